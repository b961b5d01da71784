/** A Rookery folder that was copied to a second PC: two agents that are the same peer. */
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startAgent } from '../../main/agent/agent.ts'
import { openLogFile } from '../../main/agent/log-file.ts'
import { type AgentClient, connectAgent } from '../../main/edge/control/client.ts'
import { jobFile } from '../../shared/job/spec.ts'
import { settings as settingsSchema } from '../../shared/settings.ts'

const digits = join(import.meta.dirname, '../../resources/samples/digits.csv.gz')

interface Pc {
  readonly home: string
  readonly peer: string
  readonly client: AgentClient
  stop(): Promise<void>
}

let folder: string
const running = new Set<Pc>()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-clone-'))
})
afterEach(async () => {
  await Promise.all([...running].map((pc) => pc.stop()))
  await rm(folder, { recursive: true, force: true })
})

async function start(name: string): Promise<Pc> {
  const home = join(folder, name)
  await mkdir(home, { recursive: true })
  const settings = settingsSchema.parse({
    displayName: name,
    limits: { memoryBytes: 200_000_000 },
    network: { address: '127.0.0.1', localDiscovery: false },
    engine: { backend: 'cpu' },
  })
  const agent = await startAgent({ home, settings, log: openLogFile(home).log })
  const client = await connectAgent(home)
  const pc: Pc = {
    ...{ home, client, peer: (await client.command('status', {})).self },
    async stop() {
      running.delete(pc)
      client.close()
      agent.shutdown()
      await agent.ended
    },
  }
  running.add(pc)
  return pc
}

const identityOf = (pc: string, file = 'identity.json') => readFile(join(folder, pc, file), 'utf8')

describe('two PCs with one identity', () => {
  it('are noticed when the second joins: the first stays, the second becomes a new peer and joins as that', async () => {
    const host = await start('host')
    const first = await start('first')
    const job = jobFile.parse({
      name: 'digits',
      model: 'digits-mlp',
      data: { type: 'csv', path: digits },
      target: { updates: 20 },
      // It does not begin: what counts here is who is let in.
      gathering: { peers: 4, deadlineSeconds: 3600 },
    })
    const { invite } = await host.client.command('host', { job })
    await first.client.command('join', { invite })
    await mkdir(join(folder, 'second'))
    await copyFile(join(folder, 'first', 'identity.json'), join(folder, 'second', 'identity.json'))
    const before = await identityOf('first')

    const second = await start('second')
    expect(second.peer).toBe(first.peer)
    await expect(second.client.command('join', { invite })).rejects.toMatchObject({
      code: 'cloned-identity',
      message: expect.stringMatching(/^another PC takes part under the identity of this one/) as string,
    })
    expect(await identityOf('second', 'identity.json.previous')).toBe(before)
    // Asked twice it says the same, and keeps the copy.
    await expect(second.client.command('join', { invite })).rejects.toMatchObject({ code: 'cloned-identity' })
    expect(await identityOf('second', 'identity.json.previous')).toBe(before)
    await second.stop()

    const anew = await start('second')
    expect(anew.peer).not.toBe(first.peer)
    await anew.client.command('join', { invite })
    const { job: seen } = await host.client.command('status', {})
    expect(seen!.members.map(({ peer, state }) => [peer, state])).toEqual(
      [host, first, anew].map(({ peer }) => [peer, 'joined']),
    )
    expect(await identityOf('first')).toBe(before)
  })

  it('are not seen in one that was started again', async () => {
    const host = await start('host')
    const job = jobFile.parse({
      name: 'digits',
      model: 'digits-mlp',
      data: { type: 'csv', path: digits },
      target: { updates: 20 },
      gathering: { peers: 4, deadlineSeconds: 3600 },
    })
    const { invite } = await host.client.command('host', { job })
    for (let time = 0; time < 3; time++) {
      const friend = await start('friend')
      await friend.client.command('join', { invite })
      await friend.stop()
    }
  })
})
