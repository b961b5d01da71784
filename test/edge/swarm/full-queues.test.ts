/** Two peers on real connections, each with more to send than any queue on the way takes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Links } from '../../../main/core/ports.ts'
import { createJobKey } from '../../../main/edge/identity/job-key.ts'
import { usualPatience } from '../../../main/edge/swarm/links/job-links.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { mebibyte, second } from '../../../shared/units.ts'
import { listen } from '../../contracts/links.ts'
import { certify, enter, openPool, startAgent, type Agent } from './pool.ts'

const floats = mebibyte / 4
const bulk = (job: string, type: 'activation' | 'gradient', microBatch: number): WireMessage => ({
  header:
    type === 'gradient'
      ? { type, job, plan: 1, microBatch }
      : { type, job, plan: 1, microBatch, purpose: 'train' },
  tensors: [floatTensor(new Float32Array(floats).fill(microBatch))],
})
const numbersOf = ({ heard }: ReturnType<typeof listen>, type: string) =>
  heard.flatMap(({ message: { header } }) =>
    header.type === type && 'microBatch' in header ? [header.microBatch] : [],
  )

describe('full queues on both sides', () => {
  let pool: Awaited<ReturnType<typeof openPool>>
  beforeEach(async () => {
    pool = await openPool(2)
  })
  afterEach(() => pool.stop())

  /** Windows of streams and buffers of sockets together take a few MiB. */
  const many = 48
  /** As a stage does: what is heard is answered, and the next is asked for only when the answer is on its way. */
  const answerAll = (links: Links, failures: unknown[]) =>
    links.onMessage(({ peer }, { header }) => {
      if (header.type === 'activation')
        links.send(peer, bulk(pool.job, 'gradient', header.microBatch)).catch((error: unknown) => {
          failures.push(error)
        })
    })

  it.each([
    ['as fast as the line takes it', 0],
    ['with reading held back by a download cap', 24 * mebibyte],
  ])('do not deadlock, though each answers in bulk what it hears: %s', async (_, downloadBytesPerSecond) => {
    const sides = pool.links
    for (const { swarm } of pool.agents) swarm.setCaps({ uploadBytesPerSecond: 0, downloadBytesPerSecond })
    const inboxes = sides.map(listen)
    const failures: unknown[] = []
    for (const links of sides) answerAll(links, failures)
    const order = Array.from({ length: many }, (_unused, at) => at)
    const sends = sides.flatMap((links, side) =>
      order.map((at) => links.send(sides[1 - side]!.self, bulk(pool.job, 'activation', at))),
    )
    await Promise.all(sends)
    await Promise.all(inboxes.map((inbox) => inbox.until(() => inbox.heard.length === 2 * many)))
    expect(failures).toEqual([])
    for (const inbox of inboxes) {
      expect([numbersOf(inbox, 'activation'), numbersOf(inbox, 'gradient')]).toEqual([order, order])
      expect(inbox.lost).toEqual([])
    }
  })
})

describe('silence', () => {
  it('is noticed within five seconds: it counts from the last byte, and is looked at with every heartbeat', () => {
    expect(usualPatience.silenceMs + usualPatience.heartbeatMs).toBeLessThanOrEqual(5 * second)
  })

  describe('on a slow line that is full of bulk', () => {
    const impatient = { graceMs: 1000, heartbeatMs: 100, silenceMs: 1000 }
    const agents: Agent[] = []
    beforeEach(async () => {
      agents.push(await startAgent({ patience: impatient }), await startAgent({ patience: impatient }))
    })
    afterEach(() => Promise.all(agents.splice(0).map(({ swarm }) => swarm.stop())))

    it('is not heard where a heartbeat would wait behind bulk: one message takes four times the silence', async () => {
      const key = createJobKey()
      const [near, far] = agents as [Agent, Agent]
      const host = enter(near, key, certify(key, near.swarm.self, 'host'))
      const member = enter(far, key, certify(key, far.swarm.self))
      await member.learnAddresses(host.self, near.swarm.addresses())
      far.swarm.setCaps({ uploadBytesPerSecond: mebibyte / 2, downloadBytesPerSecond: 0 })
      const [hosts, members] = [listen(host), listen(member)]
      const one = bulk(key.jobId, 'activation', 0)
      const two = { ...one, tensors: [floatTensor(new Float32Array(2 * floats))] }
      await member.send(host.self, two)
      await hosts.until(() => hosts.heard.length === 1)
      expect([hosts.lost, members.lost]).toEqual([[], []])
    })
  })
})
