/** What an engine's calls cost beside its work: the figures have it, and the search counts it. */
import { describe, expect, it } from 'vitest'
import { planFigures } from '../../../main/core/planner/plan-figures.ts'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, nextInt } from '../../../shared/random.ts'
import { poolOf, profileOf } from '../../simulation/small.ts'
import { bestRate } from './brute-force.ts'
import { randomCase } from './random-pools.ts'

/** Up to twice what the model's work takes on the first PC, drawn for each. */
function withCalls(pool: Pool, profile: ModelProfile, seed: number): Pool {
  const rng = createRng(seed)
  const flops = profile.layers.reduce((sum, layer) => sum + layer.flopsPerSample, 0)
  const work = (4 * profile.microBatch * flops) / (pool.peers[0]?.flopsPerSecond ?? 1)
  return { ...pool, peers: pool.peers.map((peer) => ({ ...peer, callSeconds: work * rng.next() })) }
}

describe('the calls of an engine', () => {
  it('are two a micro-batch and stage, one at the last, and the update’s part', () => {
    const profile = profileOf(2, { accumulate: 4 })
    const pool = poolOf([{ flopsPerSecond: 400, callSeconds: 0.1 }, { flopsPerSecond: 400 }])
    const figures = (last: number) =>
      planFigures({ ...pool, peers: [pool.peers[0]!, { ...pool.peers[1]!, callSeconds: last }] }, profile, [
        [
          { peer: 'pc-0', layers: [0, 1] },
          { peer: 'pc-1', layers: [1, 2] },
        ],
      ])
    // 10 · 10 · 4 FLOPs at 400 a second, and the calls.
    const [cluster] = figures(0.4).clusters
    expect(cluster?.stages.map(({ secondsPerMicroBatch }) => secondsPerMicroBatch)).toEqual([
      expect.closeTo(1 + 2.25 * 0.1, 12),
      expect.closeTo(1 + 1.25 * 0.4, 12),
    ])
    expect(figures(0.4).samplesPerSecond).toBeCloseTo(10 / 1.5, 9)
    expect(figures(0).samplesPerSecond).toBeCloseTo(10 / 1.225, 9)
  })

  it('are counted by the search: the best of all plans of small pools', { timeout: 60_000 }, () => {
    let compared = 0
    let differs = 0
    for (let seed = 0; seed < 100; seed++) {
      const shape = randomCase(seed, (rng) => ({ peers: 1 + nextInt(rng, 4), layers: 1 + nextInt(rng, 6) }))
      const pool = withCalls(shape.pool, shape.profile, seed)
      const answer = planPool({ pool, profile: shape.profile, seed })
      if ('feasible' in answer) continue
      compared++
      expect(answer.samplesPerSecond / bestRate(pool, shape.profile)).toBeGreaterThan(1 - 1e-6)
      const free = planPool({ pool: shape.pool, profile: shape.profile, seed })
      if ('feasible' in free) continue
      const stages = (clusters: typeof free.clusters) => clusters.map((cluster) => cluster.stages.length)
      if (String(stages(free.clusters)) !== String(stages(answer.clusters))) differs++
    }
    expect(compared).toBeGreaterThan(60)
    expect(differs).toBeGreaterThan(3)
  })
})
