/**
 * The planner on large pools: seconds for 64 and for a thousand PCs, and its rate against a greedy, LAN-aware plan made by
 * hand on fifty pools of 64. `npm run bench -- plan [--only seconds | rates] [--json]`.
 */
import { planFigures } from '../../main/core/planner/plan-figures.ts'
import { planPool } from '../../main/core/planner/plan-pool.ts'
import { InvalidInputError } from '../../shared/errors.ts'
import type { Layout } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../shared/plan/pool.ts'
import { poolRate } from '../core/planner/brute-force.ts'
import { greedyPlan } from '../core/planner/greedy.ts'
import { largeCase } from '../core/planner/large-pools.ts'

const comparedPools = 50
const timedPools = 6

function planned(pool: Pool, profile: ModelProfile): Layout {
  const answer = planPool({ pool, profile, seed: 1 })
  if ('feasible' in answer) throw new InvalidInputError(answer.reason)
  return answer
}

/** The most seconds of some pools of so many. */
function secondsOf(peers: number, pools: number): number {
  let most = 0
  for (let seed = 0; seed < pools; seed++) {
    const { pool, profile } = largeCase(seed, peers)
    const beganMs = performance.now()
    planned(pool, profile)
    most = Math.max(most, (performance.now() - beganMs) / 1000)
  }
  return most
}

function ratesAgainstGreedy(): Record<string, number> {
  const ratios: number[] = []
  let farthest = 0
  for (let seed = 0; seed < comparedPools; seed++) {
    const { pool, profile } = largeCase(seed, 64)
    const byHand = poolRate(pool, profile, greedyPlan(pool, profile))
    const plan = planned(pool, profile)
    const clusters = plan.clusters.map(({ stages }) => stages)
    const again = planFigures(pool, profile, clusters).samplesPerSecond
    farthest = Math.max(farthest, Math.abs(plan.samplesPerSecond / again - 1))
    if (byHand > 0) ratios.push(plan.samplesPerSecond / byHand)
  }
  ratios.sort((a, b) => a - b)
  return {
    comparedPools: ratios.length,
    belowGreedy: ratios.filter((ratio) => ratio < 1 - 1e-9).length,
    leastOfGreedy: ratios[0] ?? 0,
    medianOfGreedy: ratios[Math.floor(ratios.length / 2)] ?? 0,
    farthestFromRecomputed: farthest,
  }
}

export function benchPlan(only: readonly string[]): Promise<Record<string, number>> {
  const wants = (part: string) => only.length === 0 || only.includes(part)
  return Promise.resolve({
    ...(wants('seconds')
      ? { mostSecondsOf64: secondsOf(64, timedPools), mostSecondsOf1000: secondsOf(1000, timedPools / 2) }
      : {}),
    ...(wants('rates') ? ratesAgainstGreedy() : {}),
  })
}
