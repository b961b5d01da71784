import { describe, expect, it } from 'vitest'
import { jobRate, layoutOfJob, type LayoutRequest } from '../../../main/core/job/job-layout.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import { smallJob } from '../../scenarios/pool.ts'

const { graph } = smallJob()
const home = { uploadBytesPerSecond: 50e6, downloadBytesPerSecond: 50e6 }

/** PCs of these speeds in one home, each with memory for the whole model. */
function layoutFor(speeds: readonly number[], change: Partial<LayoutRequest> = {}): Layout {
  const peers = speeds.map((flopsPerSecond, index) => ({
    ...{ id: `pc-${index + 1}`, memoryBytes: 1e6, flopsPerSecond },
    ...home,
  }))
  const pool = { peers, links: [], defaultLatencySeconds: 0.001 }
  const found = layoutOfJob({
    pool,
    graph,
    recipe: recipe.parse({}),
    seed: 0,
    clusters: undefined,
    ...change,
  })
  if ('feasible' in found) throw new InvariantError(found.reason)
  return found
}
const sizesOf = ({ clusters }: Layout) => clusters.map(({ stages }) => stages.length).sort()
const rateOf = ({ clusters }: Layout) => jobRate(clusters.map(({ samplesPerSecond }) => samplesPerSecond))

describe('the layout of a job', () => {
  it('counts a job’s rate by its slowest cluster', () => {
    expect([[], [5], [5, 4], [5, 1, 3]].map(jobRate)).toEqual([0, 5, 8, 3])
  })

  it('gives PCs of one speed a cluster each', () => {
    expect(sizesOf(layoutFor([1e7, 1e7, 1e7]))).toEqual([1, 1, 1])
    expect(sizesOf(layoutFor([1e7, 0.95e7]))).toEqual([1, 1])
  })

  it('leaves a PC out that the others would wait for', () => {
    const layout = layoutFor([1e7, 1e7, 1e4])
    expect(sizesOf(layout)).toEqual([1, 1])
    expect(layout.unused).toEqual([{ peer: 'pc-3', reason: 'the others would have to wait for it' }])
  })

  it('puts a slower PC into a cluster of a faster one where that is done sooner', () => {
    const layout = layoutFor([1e7, 0.3e7])
    expect(sizesOf(layout)).toEqual([2])
    const alone = rateOf(layoutFor([1e7]))
    expect(rateOf(layout)).toBeGreaterThan(1.1 * alone)
    // As two clusters the job would take three times as long for less than twice the samples.
    expect(rateOf(layoutFor([1e7, 0.3e7], { clusters: 2 }))).toBeLessThan(0.7 * alone)
  })

  it('leaves out the slow ones of many', () => {
    const layout = layoutFor([1e7, 1e7, 1e7, 1e7, 1e7, 1e4, 2e4])
    expect(sizesOf(layout)).toEqual([1, 1, 1, 1, 1])
    expect(layout.unused.map(({ peer }) => peer).sort()).toEqual(['pc-6', 'pc-7'])
  })

  it('does what was asked for', () => {
    expect(sizesOf(layoutFor([1e7, 1e4], { clusters: 2 }))).toEqual([1, 1])
  })
})
