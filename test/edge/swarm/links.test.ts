/** libp2p keeps the promises of `Links`, and so does the fake that core is tested with. */
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JobLinks } from '../../../main/edge/swarm/swarm.ts'
import { PeerLostError } from '../../../shared/errors.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { describeLinks, listen, type LinksPool } from '../../contracts/links.ts'
import { createFakeNetwork } from '../../fakes/links.ts'
import { openPool } from './pool.ts'

function openFakePool(participants: number): Promise<LinksPool> {
  const clock = { now: () => performance.now(), sleep: (duration: number) => setTimeout(duration) }
  const network = createFakeNetwork({ clock, delayMs: [0, 2], window: 2 })
  const names = Array.from({ length: participants }, (_, at) => `peer-${at}`)
  return Promise.resolve({
    job: 'ab'.repeat(32),
    links: names.map((name) => network.linksOf(name)),
    fail: (index) => network.sever(names[index] ?? ''),
    stop: () => Promise.resolve(),
  })
}

describeLinks('libp2p on loopback', openPool)
describeLinks('the fake network', openFakePool)

describe('links over libp2p', () => {
  let pool: Awaited<ReturnType<typeof openPool>>
  let links: JobLinks
  beforeEach(async () => {
    pool = await openPool(1)
    links = pool.links[0] as JobLinks
  })
  afterEach(() => pool.stop())
  const gradient = (): WireMessage => ({
    header: { type: 'gradient', job: pool.job, plan: 0, microBatch: 0 },
    tensors: [floatTensor(Float32Array.of(1, 2))],
  })

  it('hand our own messages back as they are, without a copy', async () => {
    const inbox = listen(links)
    const message = gradient()
    await links.send(links.self, message)
    expect(inbox.heard[0]!.message).toBe(message)
    expect(inbox.heard[0]!.from).toEqual({ peer: links.self, standing: 'host' })
  })

  it('keep what comes before anyone listens', async () => {
    const message = gradient()
    await links.send(links.self, message)
    const inbox = listen(links)
    expect(inbox.heard.map((one) => one.message)).toEqual([message])
  })

  it('cannot reach a peer that nobody knows', async () => {
    const unknown = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
    await expect(links.send(unknown, gradient())).rejects.toBeInstanceOf(PeerLostError)
    await expect(links.send('nobody', gradient())).rejects.toBeInstanceOf(PeerLostError)
  })

  it('survive a handler that throws', async () => {
    links.onMessage(() => {
      throw new TypeError('a bug of the handler')
    })
    const inbox = listen(links)
    await links.send(links.self, gradient())
    expect(inbox.heard).toHaveLength(1)
    expect(pool.agents[0]!.lines.map(({ level }) => level)).toEqual(['error'])
  })
})
