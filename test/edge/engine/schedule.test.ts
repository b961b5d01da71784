/** The learning rate over updates. */
import { describe, expect, it } from 'vitest'
import { learningRateFactor } from '../../../main/edge/engine/schedule.ts'
import { learningRateSchedule } from '../../../shared/job/recipe.ts'

const factors = (schedule: object, updates: readonly number[]) => {
  const parsed = learningRateSchedule.parse(schedule)
  return updates.map((update) => Number(learningRateFactor(parsed, update).toFixed(12)))
}

describe('the learning rate', () => {
  it('rises over the warm-up from 1/(n+1) and is whole right after it', () => {
    expect(factors({ type: 'constant', warmupUpdates: 4 }, [0, 1, 2, 3, 4, 1000])).toEqual([
      0.2, 0.4, 0.6, 0.8, 1, 1,
    ])
    expect(factors({ type: 'constant' }, [0, 7])).toEqual([1, 1])
  })

  it('falls by its factor at every step, counted from the first update of all', () => {
    const schedule = { type: 'step', warmupUpdates: 1, everyUpdates: 3, factor: 0.5 }
    expect(factors(schedule, [0, 1, 2, 3, 5, 6, 9])).toEqual([0.5, 1, 1, 0.5, 0.5, 0.25, 0.125])
  })

  it('falls along a cosine from the end of the warm-up to its last factor, and stays there', () => {
    const schedule = { type: 'cosine', warmupUpdates: 2, totalUpdates: 10, finalFactor: 0.2 }
    expect(factors(schedule, [1, 2, 6, 10, 11])).toEqual([Number((2 / 3).toFixed(12)), 1, 0.6, 0.2, 0.2])
    const quarter = 0.2 + 0.4 * (1 + Math.SQRT1_2)
    expect(factors(schedule, [4])).toEqual([Number(quarter.toFixed(12))])
  })

  it('does not divide by nothing when the warm-up is all there is', () => {
    expect(factors({ type: 'cosine', warmupUpdates: 5, totalUpdates: 5 }, [4, 5, 6])).toEqual([Number((5 / 6).toFixed(12)), 1, 0]) // prettier-ignore
  })
})
