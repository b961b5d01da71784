import { describe, expect, it } from 'vitest'
import { createLinkProbes, type LinkProbes } from '../../../main/core/job/link-probes.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeNetwork } from '../../fakes/links.ts'
import { createRatedLinks } from './rated-links.ts'

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

/** Measured over a line that lets 80 KiB pass at once after a rest. */
async function measuredRate(bytesPerSecond: number): Promise<number> {
  const clock = createVirtualClock()
  const line = { clock, bytesPerSecond, burstBytes: 80 * 1024, roundTripMs: 20 }
  const links = createRatedLinks({ ...line, answered: (message) => { probes.deliver('b', message) } }) // prettier-ignore
  const probes: LinkProbes = createLinkProbes({ links, clock }, job)
  const [report] = await clock.runUntil(probes.measure(['b'], 1, signal))
  return report?.bytesPerSecond ?? NaN
}

describe('a line that lets the first bytes pass at once', () => {
  it.each([125e3, 625e3, 2.5e6, 12.5e6])('of %d bytes a second is measured by what follows', async (rate) => {
    expect(await measuredRate(rate)).toBeGreaterThan(0.98 * rate)
    expect(await measuredRate(rate)).toBeLessThan(1.06 * rate)
  })
})

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
