import { describe, expect, it } from 'vitest'
import { createPace } from '../../../main/edge/control/pace.ts'
import { createManualClock } from './example-agent.ts'

describe('a pace of one deed in 100 ms', () => {
  it('does ten deeds in a second of requests every 10 ms, and the last request is not lost', async () => {
    const clock = createManualClock()
    let state = 0
    const seen: number[] = []
    const pace = createPace(clock, { gapMs: 100, deed: () => seen.push(state) })
    for (state = 1; state <= 100; state += 1) {
      pace.request()
      await clock.advance(10)
    }
    state = 100
    await clock.advance(100)
    expect(seen).toEqual([1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 100])
  })

  it('does nothing without a request', async () => {
    const clock = createManualClock()
    const seen: number[] = []
    const pace = createPace(clock, { gapMs: 100, deed: () => seen.push(clock.now()) })
    pace.request()
    await clock.advance(1000)
    await clock.advance(1000)
    expect(seen).toEqual([1000])
  })
})
