import { describe, expect, it } from 'vitest'
import { createWorkMeter } from '../../main/agent/loop-watch.ts'

/** Ticks of a loop: how long after the one before, and what the thread worked in that time. */
function longestOf(ticks: readonly (readonly [afterMs: number, workedMs: number])[]): number {
  let now = 1000
  let worked = 70
  const meter = createWorkMeter({ now: () => now, worked: () => worked })
  for (const [afterMs, workedMs] of ticks) {
    now += afterMs
    worked += workedMs
    meter.tick()
  }
  return meter.longestMs()
}

describe('what blocks an event loop', () => {
  it('is the longest that its own thread worked while the timer was late', () => {
    expect(
      longestOf([
        [10, 9],
        [75, 70],
        [30, 30],
      ]),
    ).toBe(65)
  })

  it('is not what other programs took of the processor', () => {
    expect(
      longestOf([
        [10, 2],
        [200, 8],
      ]),
    ).toBe(8)
  })

  it('is nothing on a loop that is in time, however busy', () => {
    expect(
      longestOf([
        [10, 10],
        [10, 10],
      ]),
    ).toBe(0)
  })
})
