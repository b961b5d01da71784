import { describe, expect, it } from 'vitest'
import { createRng } from '../../shared/random.ts'
import { expectedOrderStatistic } from './stragglers/order-statistic.ts'
import { drawSteps, expected, momentsOf, references } from './stragglers/reproduce.ts'

const share = (ours: number, theirs: number) => Math.abs(ours / theirs - 1)

describe('the slowest of many workers', () => {
  it.each(references)('by integration is the reference’s: $awaited of $workers', (reference) => {
    const exact = expected(reference)
    expect(exact.mass).toBeCloseTo(1, 5)
    expect(share(exact.mean, reference.mean)).toBeLessThan(0.01)
    if (reference.deviation !== undefined)
      expect(share(exact.deviation, reference.deviation)).toBeLessThan(0.01)
  })

  it('of one worker has the lognormal’s own mean and deviation', () => {
    const { mean, deviation } = expected({ workers: 1, awaited: 1 })
    expect(mean).toBeCloseTo(Math.exp(3 + 0.005), 9)
    expect(deviation).toBeCloseTo(Math.exp(3 + 0.005) * Math.sqrt(Math.expm1(0.01)), 9)
  })

  it('of two normal numbers is 1/√π, and the other its mirror', () => {
    const of = (awaited: number) => expectedOrderStatistic({ workers: 2, awaited, value: (z) => z }).mean
    expect(of(2)).toBeCloseTo(1 / Math.sqrt(Math.PI), 6)
    expect(of(1)).toBeCloseTo(-1 / Math.sqrt(Math.PI), 6)
  })

  it('drawn by the simulator’s chance comes to the same', () => {
    const waiting = { workers: 100, awaited: 96 }
    const { mean } = momentsOf(drawSteps(waiting, createRng(5)))
    expect(share(mean, expected(waiting).mean)).toBeLessThan(0.001)
  })
})
