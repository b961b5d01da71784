import { describe, expect, it } from 'vitest'
import { createCostModel } from '../../../main/core/planner/cost.ts'
import { createCandidates } from '../../../main/core/planner/search/candidates.ts'
import { createCutter } from '../../../main/core/planner/search/cuts.ts'
import { searchExhaustively } from '../../../main/core/planner/search/exhaustive.ts'
import { firstGroupings } from '../../../main/core/planner/search/first-groupings.ts'
import { searchGroupings, type SearchResult } from '../../../main/core/planner/search/genetic.ts'
import { createScorer } from '../../../main/core/planner/search/score.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, nextInt } from '../../../shared/random.ts'
import { bestRate } from './brute-force.ts'
import { randomCase } from './random-pools.ts'

function groundOf(pool: Pool, profile: ModelProfile) {
  const cost = createCostModel(pool, profile)
  const cutter = createCutter(
    cost,
    Array.from({ length: profile.layers.length + 1 }, (_, place) => place),
  )
  const candidates = createCandidates(cost, cutter)
  const scorer = createScorer(cost, candidates)
  const everyone = pool.peers.map((_, place) => place)
  return { cost, cutter, candidates, scorer, everyone, steps: () => cutter.steps() + scorer.steps() }
}

function search(pool: Pool, profile: ModelProfile, mostSteps: number): SearchResult {
  const ground = groundOf(pool, profile)
  const everyoneTogether = [ground.candidates.of(ground.everyone)]
  const first = [everyoneTogether, ...firstGroupings(ground)]
  return searchGroupings({ ...ground, first, rng: createRng(1), mostSteps })
}

describe('the genetic search', () => {
  it('finds the best plan of small pools without trying them all', { timeout: 120_000 }, () => {
    const ratios: number[] = []
    for (let seed = 1000; seed < 1300; seed++) {
      const { pool, profile } = randomCase(seed, (rng) => ({
        peers: 3 + nextInt(rng, 3),
        layers: 3 + nextInt(rng, 5),
      }))
      const best = bestRate(pool, profile)
      if (best > 0) ratios.push(search(pool, profile, 2_000_000).best.samplesPerSecond / best)
    }
    expect(ratios.length).toBeGreaterThan(250)
    expect(Math.min(...ratios)).toBeGreaterThan(0.98)
    expect(ratios.filter((ratio) => ratio > 1 - 1e-6).length / ratios.length).toBeGreaterThanOrEqual(0.99)
  })

  it('keeps to its budget of steps in a pool of 64 peers, and improves on where it began', () => {
    const { pool, profile } = randomCase(2, () => ({ peers: 64, layers: 12 }))
    const begun = search(pool, profile, 1)
    const ended = search(pool, profile, 10_000_000)
    expect(ended.best.samplesPerSecond).toBeGreaterThan(begun.best.samplesPerSecond)
    expect(ended.scored).toBeGreaterThan(500)
    // The last grouping judged may overshoot, by the cuts of its new clusters.
    expect(ended.steps).toBeLessThan(11_000_000)
  })
})

describe('the exhaustive search', () => {
  it('judges every way to form ordered clusters of five peers, idle ones included', () => {
    const { pool, profile } = randomCase(3, () => ({ peers: 5, layers: 4 }))
    const { everyone, candidates, scorer } = groundOf(pool, profile)
    // Σ C(5, k) · (sets of lists of k: 1, 1, 3, 13, 73, 501)
    expect(searchExhaustively(everyone, candidates, scorer).scored).toBe(1 + 5 + 30 + 130 + 365 + 501)
  })
})
