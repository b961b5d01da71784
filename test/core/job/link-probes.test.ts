import { describe, expect, it } from 'vitest'
import { createLinkProbes, type LinkProbes } from '../../../main/core/job/link-probes.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeNetwork } from '../../fakes/links.ts'

const job = 'a'.repeat(64)
const { signal } = new AbortController()

function createPair() {
  const clock = createVirtualClock()
  const probed: number[] = []
  const network = createFakeNetwork({
    clock,
    delayMs: [10, 10],
    tap: (from, _to, { header }) => {
      if (from === 'a' && header.type === 'probe') probed.push(clock.now())
    },
  })
  const open = (peer: string): LinkProbes => createLinkProbes({ links: network.linksOf(peer), clock }, job)
  const hear = (peer: string, probes: LinkProbes) => {
    network.linksOf(peer).onMessage((from, message) => {
      probes.deliver(from.peer, message as WireMessage<'probe' | 'probe-reply'>)
    })
  }
  const [a, b] = [open('a'), open('b')]
  hear('a', a)
  return { clock, probed, a, answer: () => { hear('b', b) } } // prettier-ignore
}

describe('the way to another member', () => {
  it('is measured by small messages and ballast', async () => {
    const { clock, a, answer } = createPair()
    answer()
    const [report] = await clock.runUntil(a.measure(['b'], 1, signal))
    expect(report).toMatchObject({ peer: 'b', roundTripSeconds: 0.02 })
  })

  it('is asked again when the first question came before the other could answer', async () => {
    const { clock, probed, a, answer } = createPair()
    const measured = a.measure(['b'], 1, signal)
    await clock.advance(500)
    answer()
    expect(await clock.runUntil(measured)).toHaveLength(1)
    expect(probed.slice(0, 2)).toEqual([10, 1010])
  })

  it('is given up after 15 s without a word, and at once when the other is lost', async () => {
    const { clock, a } = createPair()
    expect(await clock.runUntil(a.measure(['b'], 1, signal))).toEqual([])
    expect(clock.now()).toBe(15_000)
    const measured = a.measure(['b'], 1, signal)
    await clock.advance(100)
    a.lost('b')
    expect(await measured).toEqual([])
    expect(clock.now()).toBe(15_100)
  })
})
