import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFleet, type Peer } from './fleet.ts'
import { processesNaming } from './orphans.ts'

const fleet = createFleet()
let running: Peer

beforeAll(async () => {
  running = await fleet.start('running')
})
afterAll(() => fleet.end())

/** What the agent says when it will not start; exit code 2, and its process is gone. */
async function complaintOf(name: string, options: Parameters<typeof fleet.start>[1] = {}): Promise<string> {
  const refused = await fleet.start(name, options).then(
    () => undefined,
    (error: unknown) => error as { readonly kind: string; readonly message: string },
  )
  // `bad-input` stands for exit code 2.
  expect(refused?.kind).toBe('bad-input')
  return refused!.message
}

/** A home that holds this file. */
function homeWith(name: string, file: string, text: string): string {
  const home = join(fleet.folder, name)
  mkdirSync(home)
  writeFileSync(join(home, file), text)
  return join(home, file)
}

describe('an agent', () => {
  it('does not share its home', async () => {
    expect(await complaintOf('running')).toBe(
      `another agent (process ${running.pid}) already runs on "${running.home}": ` +
        'stop it or give this one another home folder',
    )
    expect((await running.client.command('status', {})).job).toBeNull()
  })

  it('does not start on a port that is taken, and starts on the same home with another', async () => {
    const { addresses } = await running.client.command('status', {})
    const port = Number(/\/tcp\/(\d+)\//.exec(addresses[0]!)![1])
    expect(await complaintOf('second', { port })).toBe(
      `port ${port} is taken by another program: close that, or set network.port to another or to 0`,
    )
    const second = await fleet.start('second')
    await second.shutDown()
  })

  it('does not start with an address that is none', async () => {
    expect(await complaintOf('third', { address: 'home' })).toBe(
      "network.address: 'home' is not an IP address",
    )
  })

  it('does not start with a backend that there is not', async () => {
    expect(await complaintOf('third', { backend: 'abacus' })).toMatch(
      /^settings: engine\.backend: Invalid option/,
    )
  })

  it('does not guess what a broken settings file means, and leaves it as it is', async () => {
    const file = homeWith('broken', 'settings.json', '{"network": {')
    expect(await complaintOf('broken')).toMatch(new RegExp(`^"${file}" is not JSON: `))
    expect(readFileSync(file, 'utf8')).toBe('{"network": {')
    writeFileSync(file, '{"network":{"port":70000}}')
    expect(await complaintOf('broken')).toMatch(
      /settings\.json" is not usable: settings: network\.port: .*; correct or delete it$/,
    )
    rmSync(file)
    await (await fleet.start('broken')).shutDown()
  })

  it('does not become somebody else when its identity is damaged', async () => {
    const file = homeWith('nobody', 'identity.json', '{"version":1,"privateKey":"AAAA"}')
    expect(await complaintOf('nobody')).toBe(
      `the identity file ${file} is damaged: restore it from a backup, or move it away to become a new peer`,
    )
    expect(readFileSync(file, 'utf8')).toBe('{"version":1,"privateKey":"AAAA"}')
  })

  it('is the only process left of all these', async () => {
    expect(await processesNaming(fleet.folder)).toEqual([running.pid])
  })
})
