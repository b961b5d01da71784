import { describe, expect, it } from 'vitest'
import { loadTinyStage, measureCalls, tinyPass } from '../../../main/core/job/call-cost.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { createFakeEngine } from '../../fakes/engine.ts'

/** Calls of a script's lengths, in turn. */
function engineOf(...lengthsMs: readonly number[]) {
  const clock = createVirtualClock()
  let calls = 0
  const delay = () => lengthsMs[calls++ % lengthsMs.length] ?? 0
  return { clock, engine: createFakeEngine({ clock, delay }) }
}

describe('what a call costs', () => {
  it('is half of a pass forward and backward that computes hardly anything', async () => {
    const { clock, engine } = engineOf(2, 4)
    expect(await clock.runUntil(measureCalls({ engine, clock }))).toBeCloseTo(0.003, 12)
  })

  it('is known soon of a slow engine, and of one that takes no time', async () => {
    const slow = engineOf(200)
    expect(await slow.clock.runUntil(measureCalls(slow))).toBeCloseTo(0.2, 12)
    expect(slow.clock.now()).toBeLessThan(2000)
    const quick = engineOf(0)
    expect(await quick.clock.runUntil(measureCalls(quick))).toBe(0)
  })

  it('leaves the engine without a stage', async () => {
    const { clock, engine } = engineOf(1)
    await clock.runUntil(measureCalls({ engine, clock }))
    await expect(clock.runUntil(engine.readState([0, 1]))).rejects.toThrow('no stage')
    await clock.runUntil(loadTinyStage(engine).then(() => tinyPass(engine, 0)))
  })
})
