import { describe, expect, it } from 'vitest'
import { Pulse, secondsOf } from '../../../main/cli/chaos/pulse.ts'
import { second } from '../../../shared/units.ts'

/** A pool whose peers report as listed: at a second, who, how many samples. */
function pulseOf(...reports: readonly (readonly [at: number, peer: string, samples: number])[]): Pulse {
  const pulse = new Pulse(0)
  for (const [at, peer, samples] of reports) pulse.see(peer, samples, at * second)
  return pulse
}

const spans = ({ stalls }: Pulse) => stalls.map(({ fromMs, toMs }) => [fromMs / second, toMs / second])

describe('the pulse of a pool', () => {
  it('goes on as long as anybody trains', () => {
    const pulse = pulseOf([1, 'ann', 10], [2, 'ben', 5], [3, 'ann', 10], [4, 'ben', 9], [6, 'ann', 20])
    pulse.end(7 * second)
    expect(spans(pulse)).toEqual([])
    expect(secondsOf(pulse.longest)).toBe(2)
  })

  it('stops while nobody has more samples than before', () => {
    const pulse = pulseOf([1, 'ann', 10], [2, 'ann', 10], [5, 'ann', 10], [9, 'ann', 11], [10, 'ann', 12])
    pulse.end(15 * second)
    expect(spans(pulse)).toEqual([
      [1, 9],
      [10, 15],
    ])
    expect(secondsOf(pulse.longest)).toBe(8)
  })

  it('takes fewer samples for a new stage: the next ones count', () => {
    const pulse = pulseOf([1, 'ann', 100], [4, 'ann', 0], [5, 'ann', 4], [6, 'ann', 8])
    expect(spans(pulse)).toEqual([[1, 5]])
  })

  it('counts only while enough peers live', () => {
    const pulse = pulseOf([1, 'ann', 10])
    pulse.enough(false, 5 * second)
    pulse.enough(false, 6 * second)
    pulse.enough(true, 60 * second)
    pulse.enough(true, 61 * second)
    pulse.see('ann', 20, 65 * second)
    expect(spans(pulse)).toEqual([
      [1, 5],
      [60, 65],
    ])
  })

  it('looks at nothing that comes after the end', () => {
    const pulse = pulseOf([1, 'ann', 10])
    expect(pulse.end(2 * second)).toBeUndefined()
    pulse.see('ann', 20, 60 * second)
    expect(pulse.end(99 * second)).toBeUndefined()
    expect(secondsOf(pulse.longest)).toBe(1)
  })
})
