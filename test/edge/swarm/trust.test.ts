/** Whoever is not certified may knock and nothing else; whoever breaks the protocol is cut off, and we live on. */
import { noise } from '@chainsafe/libp2p-noise'
import type { Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2p } from 'libp2p'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { issueCertificate } from '../../../main/edge/identity/certificate.ts'
import { createJobKey } from '../../../main/edge/identity/job-key.ts'
import { encodeHello, type Hello } from '../../../main/edge/swarm/links/hello.ts'
import type { JobLinks } from '../../../main/edge/swarm/swarm.ts'
import { RefusedError } from '../../../shared/errors.ts'
import { encodeFrame } from '../../../shared/messages/frame.ts'
import {
  trafficOf,
  type Certificate,
  type WireMessage,
  type WireType,
} from '../../../shared/messages/wire.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { listen } from '../../contracts/links.ts'
import { allTypes, headerOf } from './headers.ts'
import { certify, enter, openPool, startAgent, type Agent } from './pool.ts'

type Pool = Awaited<ReturnType<typeof openPool>>

let pool: Pool
let host: JobLinks
let member: JobLinks
let stranger: Agent
beforeEach(async () => {
  ;[pool, stranger] = await Promise.all([openPool(2), startAgent()])
  ;[host, member] = pool.links as [JobLinks, JobLinks]
})
afterEach(async () => {
  await Promise.all([pool.stop(), stranger.swarm.stop()])
})

const hostAddresses = (): readonly string[] => pool.agents[0]!.swarm.addresses()

async function approach(certificate: Certificate | null): Promise<JobLinks> {
  const links = enter(stranger, pool.key, certificate)
  await links.learnAddresses(host.self, hostAddresses())
  return links
}
const messageOf = (type: WireType): WireMessage => ({
  header: headerOf(type, pool.job),
  tensors: trafficOf(type) === 'control' ? [] : [floatTensor(new Float32Array(4))],
})

/** The host still serves its member. */
async function expectAlive(): Promise<void> {
  const inbox = listen(host)
  await member.send(host.self, messageOf('stage-ready'))
  await inbox.until(() => inbox.heard.some(({ from }) => from.peer === member.self))
}

describe('a stranger', () => {
  it('may ask to join, is answered by the host, and is a member once it shows its certificate', async () => {
    const [asked, answered] = [
      listen(host),
      await approach(null).then((links) => ({ links, inbox: listen(links) })),
    ]
    await answered.links.send(host.self, messageOf('join-request'))
    await asked.until(() => asked.heard.length === 1)
    expect(asked.heard[0]!.from).toEqual({ peer: stranger.swarm.self, standing: 'stranger' })
    const certificate = certify(pool.key, stranger.swarm.self)
    await host.send(stranger.swarm.self, {
      header: { type: 'admitted', job: pool.job, plan: 0, certificate, name: 'digits' },
      tensors: [],
    })
    await answered.inbox.until(() => answered.inbox.heard.length === 1)
    expect(answered.inbox.heard[0]!.from).toEqual({ peer: host.self, standing: 'host' })
    answered.links.useCertificate(certificate)
    await answered.links.send(host.self, messageOf('stage-ready'))
    await answered.links.send(host.self, messageOf('gradient'))
    await asked.until(() => asked.heard.length === 3)
    expect(asked.heard.slice(1).map(({ from }) => from.standing)).toEqual(['member', 'member'])
    expect([asked.lost, answered.inbox.lost]).toEqual([[], []])
  })

  it('is told that it is no member, whatever else it sends, and nobody hears it', async () => {
    const inbox = listen(host)
    for (const type of allTypes.filter(
      (one) => !['join-request', 'job-summary-request', 'refused'].includes(one),
    )) {
      const links = await approach(null)
      const answers = listen(links)
      await links.send(host.self, messageOf(type)).catch(() => undefined)
      await answers.until(() => answers.heard.length > 0)
      expect(answers.heard[0]!.message.header).toMatchObject({ type: 'refused', refusal: 'not-a-member' })
      links.close()
    }
    expect(inbox.heard).toEqual([])
    await expectAlive()
  })

  it.each<[string, (peer: string) => Certificate]>([
    ['of another job', (peer) => certify(createJobKey(), peer)],
    ['signed with another key', (peer) => ({ ...certify(createJobKey(), peer), job: pool.job })],
    ['of another peer', () => certify(pool.key, member.self)],
    [
      'that has expired',
      (peer) => issueCertificate(pool.key, { peer, role: 'member', expiresAt: Date.now() - 1 }),
    ],
    ['with a better role than was signed', (peer) => ({ ...certify(pool.key, peer), role: 'host' })],
  ])('stays one with a certificate %s', async (_, make) => {
    const inbox = listen(host)
    const links = await approach(make(stranger.swarm.self))
    const answers = listen(links)
    await links.send(host.self, messageOf('stage-ready'))
    await answers.until(() => answers.heard.length > 0)
    expect(answers.heard[0]!.message.header).toMatchObject({ type: 'refused', refusal: 'not-a-member' })
    expect(inbox.heard).toEqual([])
  })

  it('that asks at a peer without the job hears that it is unknown there', async () => {
    host.close()
    const links = await approach(null)
    const asked = links.send(host.self, messageOf('join-request'))
    await expect(asked).rejects.toBeInstanceOf(RefusedError)
    await expect(asked).rejects.toMatchObject({ code: 'unknown-job' })
  })
})

describe('a peer that breaks the protocol', () => {
  let rogue: Libp2p
  beforeEach(async () => {
    rogue = await createLibp2p({
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
    })
  })
  afterEach(async () => {
    await rogue.stop()
  })

  const rogueHello = (lane: Hello['lane'], change: Partial<Hello> = {}): Uint8Array => {
    const certificate = certify(pool.key, rogue.peerId.toString())
    return encodeHello({
      hello: 2,
      job: pool.job,
      certificate,
      lane,
      link: 'a'.repeat(16),
      sequence: 0,
      ...change,
    })
  }
  async function speak(...pieces: readonly Uint8Array[]): Promise<Stream> {
    const address = multiaddr(hostAddresses()[0])
    const stream = await rogue.dialProtocol(address, '/rookery/frames/2')
    for (const piece of pieces) if (stream.writeStatus === 'writable') stream.send(piece)
    return stream
  }
  const ended = (stream: Stream): Promise<void> =>
    new Promise((resolve) => {
      if (stream.status === 'aborted' || stream.status === 'reset' || stream.status === 'closed') resolve()
      stream.addEventListener('close', () => {
        resolve()
      })
    })
  const probe = (): Uint8Array[] => encodeFrame({ header: headerOf('stage-ready', pool.job), tensors: [] })
  const prefix = (length: number): Uint8Array => {
    const bytes = new Uint8Array(8)
    bytes.set(new TextEncoder().encode('RKF2'))
    new DataView(bytes.buffer).setUint32(4, length, true)
    return bytes
  }

  it.each<[string, () => Uint8Array[]]>([
    ['no hello', () => [new TextEncoder().encode('GET / HTTP/1.1\r\n\r\n')]],
    ['a hello of 4 GiB', () => [Uint8Array.of(255, 255, 255, 255)]],
    ['a hello that is not JSON', () => [Uint8Array.of(2, 0, 0, 0, 123, 123)]],
    ['a hello with an unknown lane', () => [rogueHello('express' as 'control')]],
    ['no frames', () => [rogueHello('control'), new Uint8Array(64).fill(7)]],
    ['a header of 4 GiB', () => [rogueHello('control'), prefix(0xffff_fff8)]],
    [
      'a message for another job',
      () => [
        rogueHello('control'),
        ...encodeFrame({ header: headerOf('stage-ready', 'd'.repeat(64)), tensors: [] }),
      ],
    ],
    ['control in a bulk lane', () => [rogueHello('data'), ...probe()]],
  ])('with %s is cut off', async (_, bytes) => {
    const stream = await speak(...bytes())
    await ended(stream)
    expect(pool.agents[0]!.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    await expectAlive()
  })

  it('is told as lost, with the reason, when messages were exchanged before', async () => {
    const inbox = listen(host)
    const stream = await speak(rogueHello('control'), ...probe())
    await inbox.until(() => inbox.heard.length === 1)
    stream.send(new Uint8Array(64))
    await inbox.until(() => inbox.lost.length === 1)
    expect(inbox.lost[0]!.peer).toBe(rogue.peerId.toString())
    expect(inbox.lost[0]!.reason).toContain('bytes that are no frame')
    await expectAlive()
  })

  it('and ends a stream in the middle of a frame is cut off', async () => {
    const inbox = listen(host)
    const stream = await speak(rogueHello('control'), ...probe())
    await inbox.until(() => inbox.heard.length === 1)
    stream.send(probe()[0]!.subarray(0, 20))
    await stream.close()
    await inbox.until(() => inbox.lost.length === 1)
    expect(inbox.lost[0]!.reason).toContain('the stream ended in the middle of a frame')
    await expectAlive()
  })

  it('and skips messages is told as lost', async () => {
    const inbox = listen(host)
    await speak(rogueHello('control'), ...probe())
    await inbox.until(() => inbox.heard.length === 1)
    await speak(rogueHello('control', { sequence: 2 }), ...probe())
    await inbox.until(() => inbox.lost.length === 1)
    expect(inbox.lost[0]!.reason).toBe('messages of it were lost on the way')
    expect(inbox.heard).toHaveLength(1)
  })

  it('or begins anew is told as lost before its new messages', async () => {
    const events: string[] = []
    host.onLost((_, reason) => events.push(reason))
    const inbox = listen(host)
    host.onMessage(() => events.push('message'))
    await speak(rogueHello('control'), ...probe())
    await inbox.until(() => inbox.heard.length === 1)
    await speak(rogueHello('control', { link: 'b'.repeat(16) }), ...probe())
    await inbox.until(() => inbox.heard.length === 2)
    expect(events).toEqual(['message', 'it began anew', 'message'])
  })
})
