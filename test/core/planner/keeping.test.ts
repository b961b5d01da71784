/** Stages that recompute or keep: the planner against every plan there is, by the formulas. */
import { describe, expect, it } from 'vitest'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { modelProfile } from '../../../shared/plan/pool.ts'
import { createRng, nextInt } from '../../../shared/random.ts'
import { bestRate, recomputes, stageMemoryOf } from './brute-force.ts'
import { inTwoWays, randomCase } from './random-pools.ts'

const small = (seed: number) =>
  inTwoWays(
    randomCase(seed, (rng) => ({ peers: 1 + nextInt(rng, 4), layers: 2 + nextInt(rng, 6) })),
    createRng(seed + 1000),
  )

describe('a planner of stages that keep or recompute', () => {
  it('finds the best plan, keeps exactly where memory and engine allow, and fits what fitted', () => {
    const ways = { kept: 0, recomputed: 0 }
    for (let seed = 0; seed < 150; seed++) {
      const { pool, profile } = small(seed)
      const plan = planPool({ pool, profile, seed })
      if ('feasible' in plan) {
        expect(bestRate(pool, profile)).toBe(0)
        continue
      }
      expect(plan.samplesPerSecond / bestRate(pool, profile)).toBeCloseTo(1, 6)
      for (const {
        peer,
        layers: [from, to],
        memoryBytes,
        recompute,
      } of plan.clusters.flatMap(({ stages }) => stages)) {
        const stage = { peer: pool.peers.findIndex(({ id }) => id === peer), from, to }
        expect(recompute).toBe(recomputes(pool, profile, stage))
        expect(memoryBytes).toBeCloseTo(stageMemoryOf(pool, profile, stage), 3)
        expect(memoryBytes).toBeLessThanOrEqual(pool.peers[stage.peer]!.memoryBytes)
        if (to < profile.layers.length) ways[recompute === true ? 'recomputed' : 'kept']++
      }
    }
    expect(Math.min(...Object.values(ways))).toBeGreaterThan(10)
  })

  it('plans as it did with a profile that tells nothing of keeping', () => {
    const { pool, profile } = randomCase(3, () => ({ peers: 4, layers: 6 }))
    const told = { ...profile, layers: profile.layers.map((layer) => ({ ...layer, keptBytesPerSample: 0 })) }
    const plan = planPool({ pool, profile: modelProfile.parse(profile), seed: 1 })
    expect(plan).toEqual(planPool({ pool, profile: modelProfile.parse(told), seed: 1 }))
    expect(JSON.stringify(plan)).not.toContain('recompute')
  })
})
