/** Agents meet through one address, find jobs, reach those behind routers, and start again where they stopped. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it } from 'vitest'
import { createIdentity } from '../../../main/edge/identity/identity.ts'
import { createJobKey } from '../../../main/edge/identity/job-key.ts'
import { signJobRecord, verifyJobRecord } from '../../../main/edge/identity/job-record.ts'
import { compareForDialing, dialableAddresses } from '../../../main/edge/swarm/addresses.ts'
import { recordRules } from '../../../main/edge/swarm/job-directory.ts'
import { AlreadyInUseError, InvalidInputError, PeerLostError } from '../../../shared/errors.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { listen } from '../../contracts/links.ts'
import { certify, enter, startAgent, type Agent } from './pool.ts'

const running: Agent[] = []
const folders: string[] = []
const start: typeof startAgent = async (change) => {
  const agent = await startAgent(change)
  running.push(agent)
  return agent
}
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ swarm }) => swarm.stop()))
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})
const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-swarm-'))
  folders.push(folder)
  return folder
}

describe('ten agents that know one address', () => {
  it('find the newest record of a job, and reach its host by its name alone', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => start()))
    const key = createJobKey()
    for (const { swarm } of others) await swarm.connect(first!.swarm.addresses())
    const host = others[8]!
    const links = enter(host, key, certify(key, host.swarm.self, 'host'))
    const claim = { name: 'digits', host: host.swarm.self, addresses: [...host.swarm.addresses()] }
    await host.swarm.announceJob(signJobRecord(key, { ...claim, sequence: 1 }))
    const newest = signJobRecord(key, { ...claim, sequence: 2 })
    await host.swarm.announceJob(newest)
    const found = await Promise.all(others.map(({ swarm }) => swarm.findJob(key.jobId)))
    expect(found).toEqual(others.map(() => newest))
    const seeker = others[0]!
    const inbox = listen(links)
    const member = enter(seeker, key, certify(key, seeker.swarm.self))
    await member.send(host.swarm.self, {
      header: { type: 'stage-ready', job: key.jobId, plan: 0 },
      tensors: [],
    })
    await inbox.until(() => inbox.heard.length === 1)
    expect(inbox.heard[0]!.from).toEqual({ peer: seeker.swarm.self, standing: 'member' })
  })

  it('find nothing where nothing is', async () => {
    const [one, two] = await Promise.all([start(), start()])
    await two.swarm.connect(one.swarm.addresses())
    expect(await two.swarm.findJob(createJobKey().jobId)).toBeUndefined()
  })
})

describe('a record of the directory', () => {
  const { validators, selectors } = recordRules(verifyJobRecord)
  const key = createJobKey()
  const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
  const name = new TextEncoder().encode(`/rookery/job/${key.jobId}`)
  const record = (sequence: number) =>
    signJobRecord(key, { name: 'digits', host: 'hanna', addresses: [], sequence })
  const check = (at: Uint8Array, value: Uint8Array) => () => {
    validators.rookery(at, value)
  }

  it('is kept only under its own job, with its signature', () => {
    const elsewhere = new TextEncoder().encode(`/rookery/job/${'0'.repeat(64)}`)
    expect(check(name, bytes(record(1)))).not.toThrow()
    expect(check(elsewhere, bytes(record(1)))).toThrow(InvalidInputError)
    expect(check(name, bytes({ ...record(1), sequence: 9 }))).toThrow(InvalidInputError)
    expect(check(name, Uint8Array.of(1, 2, 3))).toThrow(InvalidInputError)
    expect(check(name, new Uint8Array(1 << 20))).toThrow(InvalidInputError)
  })

  it('gives way to a newer one, and to no forged one', () => {
    const values = [record(3), record(7), { ...record(1), sequence: 99 }, record(5)].map(bytes)
    expect(selectors.rookery(name, values)).toBe(1)
  })
})

describe('a peer that listens nowhere', () => {
  it('is reached by other members through its host, even if they know only a useless address', async () => {
    const key = createJobKey()
    const [hosting, hidden, other] = await Promise.all([start(), start({ listen: null }), start()])
    const host = enter(hosting, key, certify(key, hosting.swarm.self, 'host'))
    const indoors = enter(hidden, key, certify(key, hidden.swarm.self))
    const member = enter(other, key, certify(key, other.swarm.self))
    const stageReady: WireMessage = {
      header: { type: 'stage-ready', job: key.jobId, plan: 0 },
      tensors: [],
    }
    for (const one of [indoors, member]) {
      const inbox = listen(host)
      await one.learnAddresses(host.self, hosting.swarm.addresses())
      await one.send(host.self, stageReady)
      await inbox.until(() => inbox.heard.length > 0)
      await host.send(one.self, stageReady)
    }
    await expect.poll(() => hidden.swarm.addresses(), { timeout: 20_000, interval: 50 }).not.toEqual([])
    const addresses = hidden.swarm.addresses()
    expect(addresses.every((address) => address.includes(`/p2p/${host.self}/p2p-circuit/`))).toBe(true)
    const inbox = listen(indoors)
    // As a roster of before the relay would say it: an address behind a router that is not ours.
    await member.learnAddresses(indoors.self, ['/ip4/127.0.0.1/tcp/9'])
    const gradient: WireMessage = {
      header: { type: 'gradient', job: key.jobId, plan: 0, microBatch: 0 },
      tensors: [{ dtype: 'float32', shape: [1 << 20], data: new Float32Array(1 << 20).fill(3) }],
    }
    await member.send(indoors.self, gradient)
    await inbox.until(() => inbox.heard.some(({ from }) => from.peer === member.self))
    expect(inbox.heard.find(({ from }) => from.peer === member.self)?.message).toEqual(gradient)
  })

  it('gets no place at the relay of a job that it is not in', async () => {
    const key = createJobKey()
    const [hosting, hidden] = await Promise.all([start(), start({ listen: null })])
    enter(hosting, key, certify(key, hosting.swarm.self, 'host'))
    const relay = `${hosting.swarm.addresses()[0]!}/p2p-circuit/p2p/${hidden.swarm.self}`
    await hidden.swarm.connect(hosting.swarm.addresses())
    const seeker = await start()
    await expect(seeker.swarm.connect([relay])).rejects.toBeInstanceOf(PeerLostError)
  })
})

describe('an agent', () => {
  it('says in one sentence that its port is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const started = start({ listen: { address: '127.0.0.1', port } })
    await expect(started).rejects.toBeInstanceOf(AlreadyInUseError)
    await expect(started).rejects.toThrow(
      `port ${port} is taken by another program: close that, or set network.port to another or to 0`,
    )
    await new Promise((resolve) => server.close(resolve))
  })

  it.each([
    ['no address of this computer', '192.0.2.1', 'this computer cannot listen on 192.0.2.1'],
    ['no address', 'home', "network.address: 'home' is not an IP address"],
  ])('does not listen on what is %s', async (_, address, sentence) => {
    const started = start({ listen: { address, port: 0 } })
    await expect(started).rejects.toBeInstanceOf(InvalidInputError)
    await expect(started).rejects.toThrow(sentence)
  })

  it('cannot meet anyone where nobody is', async () => {
    const [agent, gone] = await Promise.all([start(), startAgent()])
    const addresses = gone.swarm.addresses()
    await gone.swarm.stop()
    await expect(agent.swarm.connect(addresses)).rejects.toBeInstanceOf(PeerLostError)
    await expect(agent.swarm.connect(['nonsense'])).rejects.toThrow('there is no address to connect to')
  })

  it('serves one job at a time', async () => {
    const agent = await start()
    const key = createJobKey()
    const links = enter(agent, key, null)
    expect(() => enter(agent, createJobKey(), null)).toThrow('the agent serves a job already')
    links.close()
    enter(agent, createJobKey(), null)
  })

  it('knows after a restart whom it knew, and that another agent has its store', async () => {
    const datastorePath = join(await makeFolder(), 'peers')
    const identity = await createIdentity()
    const [before, friend] = await Promise.all([startAgent({ identity, datastorePath }), start()])
    const key = createJobKey()
    const links = enter(before, key, null)
    await links.learnAddresses(friend.swarm.self, friend.swarm.addresses())
    const second = start({ datastorePath })
    await expect(second).rejects.toBeInstanceOf(AlreadyInUseError)
    await expect(second).rejects.toThrow('another agent uses')
    await before.swarm.stop()
    const after = await start({ identity, datastorePath })
    const inbox = listen(enter(friend, key, certify(key, friend.swarm.self, 'host')))
    const member = enter(after, key, certify(key, after.swarm.self))
    await member.send(friend.swarm.self, {
      header: { type: 'stage-ready', job: key.jobId, plan: 0 },
      tensors: [],
    })
    await inbox.until(() => inbox.heard.length === 1)
  })

  it('begins a damaged store anew and says so', async () => {
    const datastorePath = join(await makeFolder(), 'peers')
    const first = await startAgent({ datastorePath })
    await first.swarm.stop()
    for (const file of await readdir(datastorePath))
      if (file.startsWith('MANIFEST') || file === 'CURRENT')
        await writeFile(join(datastorePath, file), 'garbage')
    const { lines } = await start({ datastorePath })
    expect(lines[0]).toEqual({
      level: 'warn',
      text: `the list of known peers in ${datastorePath} was damaged and is begun anew`,
    })
    expect(lines).toHaveLength(1)
  })
})

describe('addresses', () => {
  const relayed = '/ip4/9.9.9.9/tcp/1/p2p/A/p2p-circuit/p2p/B'
  it('for others are those that others can dial, direct ones first, loopback only for want of better', () => {
    const loopback = '/ip4/127.0.0.1/tcp/1/p2p/B'
    const home = '/ip4/192.168.1.2/tcp/1/p2p/B'
    const abroad = '/ip4/8.8.8.8/tcp/1/p2p/B'
    expect(
      dialableAddresses(['/ip4/0.0.0.0/tcp/1', relayed, loopback, home, '/ip6/fe80::1/tcp/1', abroad]),
    ).toEqual([abroad, home, relayed])
    expect(dialableAddresses([loopback])).toEqual([loopback])
    expect(dialableAddresses([loopback, relayed])).toEqual([loopback, relayed])
  })

  it('of a peer are tried directly before any detour', () => {
    const address = (text: string) => ({ multiaddr: multiaddr(text), isCertified: false })
    const peer = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
    const direct = address('/ip4/10.0.0.1/tcp/1')
    const detour = address(`/ip4/9.9.9.9/tcp/1/p2p/${peer}/p2p-circuit`)
    expect([
      compareForDialing(direct, detour),
      compareForDialing(detour, direct),
      compareForDialing(direct, direct),
    ]).toEqual([-1, 1, 0])
  })
})
