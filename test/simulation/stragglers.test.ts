import { describe, expect, it } from 'vitest'
import { drawFactor, parseStragglers } from '../../main/simulation/stragglers.ts'
import { createRng } from '../../shared/random.ts'

const draws = (text: string, count: number) => {
  const [stragglers, rng] = [parseStragglers(text), createRng(3)]
  return Array.from({ length: count }, () => drawFactor(stragglers, rng))
}
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('lognormal stragglers', () => {
  it('have the published means of the slowest of n workers, mu = 3 and s = 0.1', () => {
    for (const [workers, expected] of [
      [1, 20.19],
      [10, 23.46],
      [100, 25.83],
    ] as const) {
      const values = draws('lognormal:0.1', 2000 * workers)
      const slowest = Array.from({ length: 2000 }, (_, step) =>
        Math.max(...values.slice(step * workers, (step + 1) * workers)),
      )
      expect(Math.abs((Math.exp(3) * mean(slowest)) / expected - 1)).toBeLessThan(0.01)
    }
  })
})

describe('truncated normal stragglers', () => {
  it('stay within a half and one and a half, around one', () => {
    const values = draws('normal:0.3', 20_000)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0.5)
    expect(Math.max(...values)).toBeLessThanOrEqual(1.5)
    expect(mean(values)).toBeCloseTo(1, 2)
  })
})

it('refuses what is no distribution in one sentence', () => {
  for (const text of ['', 'gamma:1', 'normal', 'normal:', 'normal:-1', 'lognormal:99', 'lognormal:x'])
    expect(() => parseStragglers(text)).toThrow('--stragglers takes none, lognormal:S or normal:S')
})
