/** A peer that is gone is noticed and told once; one whose connection only broke is nobody's loss. */
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { privateKeyToProtobuf } from '@libp2p/crypto/keys'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIdentity } from '../../../main/edge/identity/identity.ts'
import { createJobKey, type JobKey } from '../../../main/edge/identity/job-key.ts'
import type { JobLinks } from '../../../main/edge/swarm/swarm.ts'
import { PeerLostError } from '../../../shared/errors.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { listen } from '../../contracts/links.ts'
import type { ChildOrders } from './child.ts'
import { certify, enter, startAgent, type Agent } from './pool.ts'
import { layCable, type Cable } from './proxy.ts'

let key: JobKey
let hosting: Agent
let host: JobLinks
const impatient = { graceMs: 1000, heartbeatMs: 100, silenceMs: 1500 }
beforeEach(async () => {
  key = createJobKey()
  hosting = await startAgent({ patience: impatient })
  host = enter(hosting, key, certify(key, hosting.swarm.self, 'host'))
})
afterEach(() => hosting.swarm.stop())

const stageReady = (): WireMessage => ({
  header: { type: 'stage-ready', job: key.jobId, plan: 0 },
  tensors: [],
})
const gradient = (microBatch: number, floats = 4): WireMessage => ({
  header: { type: 'gradient', job: key.jobId, plan: 0, microBatch },
  tensors: [floatTensor(new Float32Array(floats).fill(microBatch))],
})

const numbersOf = ({ heard }: ReturnType<typeof listen>): number[] =>
  heard.map(({ message: { header } }) => ('microBatch' in header ? header.microBatch : -1))

describe('a peer in another process', () => {
  let child: ChildProcess
  let peer: string
  let inbox: ReturnType<typeof listen>
  beforeEach(async () => {
    const identity = await createIdentity()
    peer = identity.peer
    inbox = listen(host)
    const orders: ChildOrders = {
      privateKey: Buffer.from(privateKeyToProtobuf(identity.privateKey)).toString('base64'),
      publicKey: key.publicKey,
      certificate: certify(key, peer),
      host: host.self,
      addresses: hosting.swarm.addresses(),
    }
    const script = fileURLToPath(new URL('child.ts', import.meta.url))
    child = spawn(process.execPath, [script, JSON.stringify(orders)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await inbox.until(() => inbox.heard.length === 1)
  })
  afterEach(() => {
    child.kill('SIGKILL')
  })

  it('that is killed in the middle of our bulk is lost, and so is what waits for it', async () => {
    const bulk = Array.from({ length: 32 }, (_, at) => host.send(peer, gradient(at, 1 << 20)))
    const outcomes = Promise.allSettled(bulk)
    await bulk[0]
    child.kill('SIGKILL')
    await inbox.until(() => inbox.lost.length > 0)
    const failed = (await outcomes).filter((outcome) => outcome.status === 'rejected')
    expect(failed.length).toBeGreaterThan(0)
    for (const { reason } of failed) expect(reason).toBeInstanceOf(PeerLostError)
    expect(inbox.lost).toEqual([{ peer, reason: 'its connection broke and it cannot be reached again' }])
  })

  it('that is killed while nothing is said is lost at once, not after the silence', async () => {
    child.kill('SIGKILL')
    await inbox.until(() => inbox.lost.length > 0)
    expect(inbox.lost).toEqual([{ peer, reason: 'its connection broke and it cannot be reached again' }])
  })

  it('that freezes is lost after the silence, although its connection stands', async () => {
    child.kill('SIGSTOP')
    await inbox.until(() => inbox.lost.length > 0)
    expect(inbox.lost).toEqual([{ peer, reason: 'nothing was heard of it for 1.5 s' }])
  })
})

describe('a cable', () => {
  let cable: Cable
  let far: Agent
  let member: JobLinks
  let onLine: (text: string) => void
  /** Resolves when the member logs such a line. */
  const once = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      onLine = (text) => {
        if (pattern.test(text)) resolve()
      }
    })
  beforeEach(async () => {
    onLine = () => undefined
    cable = await layCable(hosting.swarm.addresses()[0]!)
    far = await startAgent({
      patience: impatient,
      listen: null,
      log: (_, text) => {
        onLine(text)
      },
    })
    member = enter(far, key, certify(key, far.swarm.self))
    await member.learnAddresses(host.self, [cable.address])
  })
  afterEach(async () => {
    await far.swarm.stop()
    await cable.stop()
  })

  it('that breaks between messages loses none, either way, and nobody is told', async () => {
    const [hosts, members] = [listen(host), listen(member)]
    await member.send(host.self, gradient(0))
    await host.send(member.self, gradient(1))
    await Promise.all([
      hosts.until(() => hosts.heard.length === 1),
      members.until(() => members.heard.length === 1),
    ])
    const repaired = once(/was made again/)
    cable.cut()
    await repaired
    await member.send(host.self, gradient(2))
    await hosts.until(() => hosts.heard.length === 2)
    await host.send(member.self, gradient(3))
    await members.until(() => members.heard.length === 2)
    expect([numbersOf(hosts), numbersOf(members)]).toEqual([
      [0, 2],
      [1, 3],
    ])
    expect([hosts.lost, members.lost]).toEqual([[], []])
  })

  it('that breaks within a message brings it again or tells of the loss: there is never a hole', async () => {
    const hosts = listen(host)
    const sends = Array.from({ length: 24 }, (_, at) => member.send(host.self, gradient(at, 1 << 20)))
    const outcomes = Promise.allSettled(sends)
    await sends[2]
    cable.cut()
    await outcomes
    await hosts.until(() => hosts.lost.length > 0 || hosts.heard.length === 24)
    const numbers = numbersOf(hosts)
    expect(numbers).toEqual(numbers.map((_, at) => at))
    expect(hosts.lost.length === 1 || numbers.length === 24).toBe(true)
  })

  it('that a quiet pool keeps is not taken for silence', async () => {
    const [hosts, members] = [listen(host), listen(member)]
    await member.send(host.self, stageReady())
    await hosts.until(() => hosts.heard.length === 1)
    const before = cable.passed()
    const silences = 2
    await new Promise((resolve) => setTimeout(resolve, silences * impatient.silenceMs))
    expect([hosts.lost, members.lost]).toEqual([[], []])
    expect(cable.passed()).toBeGreaterThan(before)
  })
})

describe('a peer that leaves the job', () => {
  it('but stays in the swarm is told as lost', async () => {
    const far = await startAgent()
    const member = enter(far, key, certify(key, far.swarm.self))
    await member.learnAddresses(host.self, hosting.swarm.addresses())
    const inbox = listen(host)
    await member.send(host.self, stageReady())
    await inbox.until(() => inbox.heard.length === 1)
    member.close()
    await inbox.until(() => inbox.lost.length === 1)
    expect(inbox.lost).toEqual([{ peer: far.swarm.self, reason: 'it left the job' }])
    await far.swarm.stop()
  })

  it('and comes back is welcome', async () => {
    const far = await startAgent()
    const inbox = listen(host)
    for (const visit of [1, 2, 3]) {
      const member = enter(far, key, certify(key, far.swarm.self))
      await member.learnAddresses(host.self, hosting.swarm.addresses())
      await member.send(host.self, stageReady())
      await inbox.until(() => inbox.heard.length === visit)
      await host.send(far.swarm.self, stageReady())
      member.close()
    }
    expect(inbox.heard).toHaveLength(3)
    await far.swarm.stop()
  })
})
