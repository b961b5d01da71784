import { execFileSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentNotRunningError, AlreadyInUseError } from '../../../shared/errors.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'
import { connectAgent, RemoteError } from '../../../main/edge/control/client.ts'
import { createManualClock, openRawFace, startExampleAgent, temporaryHome } from './example-agent.ts'
import type { ExampleAgent, RawFace } from './example-agent.ts'

let home = ''
let agents: ExampleAgent[] = []
let removeHome = (): Promise<void> => Promise.resolve()

beforeEach(async () => {
  const made = await temporaryHome()
  home = made.home
  removeHome = made.remove
})

afterEach(async () => {
  for (const agent of agents) await agent.server.close()
  agents = []
  await removeHome()
})

async function start(options: Omit<Parameters<typeof startExampleAgent>[0], 'home'> = {}) {
  const agent = await startExampleAgent({ home, ...options })
  agents.push(agent)
  return agent
}

async function tokenOfHome(): Promise<string> {
  const file = JSON.parse(await readFile(join(home, 'control.json'), 'utf8')) as { token: string }
  return file.token
}

/** A raw face that has said hello. */
async function rawFace(agent: ExampleAgent): Promise<RawFace> {
  const face = openRawFace(agent.server.socket)
  face.write(`${JSON.stringify({ type: 'hello', token: await tokenOfHome() })}\n`)
  expect(await face.next()).toEqual({ type: 'welcome' })
  return face
}

const line = (message: unknown): string => `${JSON.stringify(message)}\n`

describe('a face of the agent', () => {
  it('commands it and gets the typed answer', async () => {
    await start({
      handlers: { join: ({ invite }) => Promise.resolve({ job: 'a'.repeat(64), name: invite }) },
    })
    const client = await connectAgent(home)
    expect(await client.command('join', { invite: 'rookery:x' })).toEqual({
      job: 'a'.repeat(64),
      name: 'rookery:x',
    })
    client.close()
  })

  it('gets a failed command as an error of the same kind, code and sentence', async () => {
    await start()
    const client = await connectAgent(home)
    const failure = await client.command('pause', {}).catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(RemoteError)
    expect(failure).toMatchObject({
      kind: 'bad-input',
      code: 'invalid-input',
      message: 'there is no job',
    })
    client.close()
  })

  it('shares the agent with other faces, and all see the same state', async () => {
    const agent = await start()
    const [first, second] = await Promise.all([connectAgent(home), connectAgent(home)])
    const watchers = [first, second].map((client) => client.watch()[Symbol.asyncIterator]())
    for (const watcher of watchers) {
      expect((await watcher.next()).value).toMatchObject({ displayName: 'laptop' })
    }
    agent.show({ displayName: 'renamed' })
    for (const watcher of watchers) {
      expect((await watcher.next()).value).toMatchObject({ displayName: 'renamed' })
    }
    first.close()
    expect(await second.command('status', {})).toMatchObject({ displayName: 'renamed' })
    second.close()
  })

  it('learns that the agent died: pending commands and watching end with AgentNotRunningError', async () => {
    const agent = await start({ handlers: { join: () => new Promise(() => undefined) } })
    const client = await connectAgent(home)
    const waiting = client.command('join', { invite: 'x' })
    const watched = (async () => {
      for await (const _ of client.watch());
    })()
    const rejections = Promise.all([
      expect(waiting).rejects.toBeInstanceOf(AgentNotRunningError),
      expect(watched).rejects.toBeInstanceOf(AgentNotRunningError),
    ])
    await agent.server.close()
    agents = []
    await rejections
    await client.closed
    await expect(client.command('status', {})).rejects.toBeInstanceOf(AgentNotRunningError)
    await expect(connectAgent(home)).rejects.toBeInstanceOf(AgentNotRunningError)
  })
})

describe('the control socket', () => {
  it('is for its user only', async () => {
    const agent = await start()
    expect((await stat(agent.server.socket)).mode & 0o777).toBe(0o600)
    expect((await stat(join(home, 'control.json'))).mode & 0o777).toBe(0o600)
  })

  it('closes on a wrong token, before anything else is heard', async () => {
    const agent = await start()
    const face = openRawFace(agent.server.socket)
    face.write(
      line({ type: 'hello', token: '0'.repeat(64) }) +
        line({ type: 'command', id: 1, name: 'status', input: {} }),
    )
    expect(await face.next()).toMatchObject({ type: 'failed', id: 0, error: { code: 'wrong-token' } })
    expect(await face.next()).toBeUndefined()
  })

  it('tells our client about a wrong token', async () => {
    const agent = await start()
    const forged = { socket: agent.server.socket, token: '0'.repeat(64) }
    await writeFile(join(home, 'control.json'), JSON.stringify(forged))
    await expect(connectAgent(home)).rejects.toMatchObject({ code: 'wrong-token' })
  })

  it('closes on a command before the token', async () => {
    const agent = await start()
    const face = openRawFace(agent.server.socket)
    face.write(line({ type: 'command', id: 1, name: 'status', input: {} }))
    expect(await face.next()).toMatchObject({ type: 'failed', id: 0 })
    expect(await face.next()).toBeUndefined()
  })

  it('closes on garbage, and other faces stay', async () => {
    const agent = await start()
    const [bad, good] = [await rawFace(agent), await rawFace(agent)]
    bad.write('GET / HTTP/1.1\n')
    expect(await bad.next()).toMatchObject({ type: 'failed', id: 0, error: { kind: 'bad-input' } })
    expect(await bad.next()).toBeUndefined()
    good.write(line({ type: 'command', id: 1, name: 'status', input: {} }))
    expect(await good.next()).toMatchObject({ type: 'done', id: 1 })
    good.close()
  })

  it('closes on a line longer than a mebibyte', async () => {
    const agent = await start()
    const face = await rawFace(agent)
    face.write('x'.repeat(1024 * 1024 + 1))
    expect(await face.next()).toMatchObject({ type: 'failed', id: 0, error: { code: 'bad-message' } })
    expect(await face.next()).toBeUndefined()
  })

  it('answers an unknown command and an input of the wrong shape with bad input', async () => {
    const agent = await start()
    const face = await rawFace(agent)
    face.write(line({ type: 'command', id: 7, name: 'reboot', input: {} }))
    expect(await face.next()).toMatchObject({
      type: 'failed',
      id: 7,
      error: { kind: 'bad-input', message: 'this agent knows no command "reboot"' },
    })
    face.write(line({ type: 'command', id: 8, name: 'join', input: { invite: 5 } }))
    expect(await face.next()).toMatchObject({ type: 'failed', id: 8, error: { kind: 'bad-input' } })
    face.close()
  })

  it('shows one snapshot for many changes, the newest', async () => {
    const clock = createManualClock()
    const agent = await start({ clock })
    const face = await rawFace(agent)
    face.write(line({ type: 'watch' }))
    expect(await face.next()).toMatchObject({ type: 'snapshot', snapshot: { displayName: 'laptop' } })
    for (let change = 1; change <= 1000; change += 1) agent.show({ displayName: `name ${change}` })
    await clock.advance(100)
    face.write(line({ type: 'command', id: 1, name: 'status', input: {} }))
    expect(await face.next()).toMatchObject({ type: 'snapshot', snapshot: { displayName: 'name 1000' } })
    expect(await face.next()).toMatchObject({ type: 'done', id: 1 })
    face.close()
  })

  it('keeps one snapshot, the newest, for a face that does not read', async () => {
    const clock = createManualClock()
    const agent = await start({ clock })
    const face = await rawFace(agent)
    face.write(line({ type: 'watch' }))
    // Two mebibytes a snapshot, far more than a socket holds; nothing is read before the last was made.
    const big = (change: number): Partial<Snapshot> => ({ version: `${change} ${'x'.repeat(2 ** 21)}` })
    expect(await face.next()).toMatchObject({ type: 'snapshot' })
    for (let change = 1; change <= 50; change += 1) {
      agent.show(big(change))
      await clock.advance(100)
    }
    const seen: number[] = []
    while (seen.at(-1) !== 50) {
      const next = await face.next()
      if (next?.type === 'snapshot') seen.push(Number.parseInt(next.snapshot.version))
    }
    expect(seen.length).toBeLessThan(6)
    face.close()
  })

  it('is taken over from an agent that was killed, and not from one that lives', async () => {
    const dead = `
      import { createServer } from 'node:net'
      createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
    const path = join(home, 'agent.sock')
    expect(() =>
      execFileSync(process.execPath, ['--input-type=module', '--eval', dead, path], { stdio: 'ignore' }),
    ).toThrow()
    expect((await stat(path)).isSocket()).toBe(true)
    const agent = await start()
    expect(agent.server.socket).toBe(path)
    await expect(startExampleAgent({ home })).rejects.toBeInstanceOf(AlreadyInUseError)
    const client = await connectAgent(home)
    expect(await client.command('status', {})).toMatchObject({ displayName: 'laptop' })
    client.close()
  })
})
