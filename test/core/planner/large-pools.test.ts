import { describe, expect, it } from 'vitest'
import { planFigures } from '../../../main/core/planner/plan-figures.ts'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { poolRate } from './brute-force.ts'
import { greedyPlan } from './greedy.ts'
import { largeCase } from './large-pools.ts'

function planned(pool: Pool, profile: ModelProfile, clusters?: number): Layout {
  const answer = planPool({ pool, profile, seed: 1, ...(clusters === undefined ? {} : { clusters }) })
  if ('feasible' in answer) throw new InvalidInputError(answer.reason)
  return answer
}

/** Offices of four PCs on one network each, equal in everything: what differs is only who is near whom. */
function offices(count: number): Pool {
  const ids = Array.from({ length: 4 * count }, (_, index) => `pc-${index}`)
  // Neighbours in the list are in different offices.
  const office = (index: number) => index % count
  return {
    peers: ids.map((id) => ({
      id,
      memoryBytes: 3e6,
      flopsPerSecond: 1e9,
      uploadBytesPerSecond: 1e8,
      downloadBytesPerSecond: 1e8,
    })),
    links: ids.flatMap((one, a) =>
      ids.slice(a + 1).map((other, step): Pool['links'][number] => ({
        between: [one, other],
        ...(office(a) === office(a + 1 + step)
          ? { latencySeconds: 0.0005, bytesPerSecond: 1e8 }
          : { latencySeconds: 0.05, bytesPerSecond: 1e6 }),
      })),
    ),
    defaultLatencySeconds: 0.05,
  }
}

const evenModel: ModelProfile = {
  name: 'even',
  codec: 'fp32',
  layers: Array.from({ length: 8 }, (_, index) => ({
    name: `layer-${index}`,
    parameterBytes: 1e6,
    activationBytesPerSample: 1e5,
    workingBytesPerSample: 0,
    flopsPerSample: 1e6,
  })),
  stateFactor: 0,
  microBatch: 4,
  inFlight: 4,
  accumulate: 4,
  averageEveryUpdates: 1000,
  backwardFactor: 2,
}

describe('the planner for many peers', () => {
  it('is never slower than what one would do by hand, and mostly much faster', { timeout: 300_000 }, () => {
    // Fifty pools of 64: `npm run bench -- plan --only rates`.
    const ratios = [1, 4, 5, 7, 9].map((seed) => {
      const { pool, profile } = largeCase(seed, 32)
      const byHand = poolRate(pool, profile, greedyPlan(pool, profile))
      return planned(pool, profile).samplesPerSecond / byHand
    })
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1)
    expect(ratios.sort((a, b) => a - b)[2]).toBeGreaterThan(1.15)
  })

  it('keeps pipelines inside networks and averages across them', () => {
    const plan = planned(offices(5), evenModel)
    const networks = plan.clusters.map(
      ({ stages }) => new Set(stages.map(({ peer }) => Number(peer.slice(3)) % 5)).size,
    )
    expect(networks).toEqual(Array.from({ length: 5 }, () => 1))
    expect(plan.rings.every(({ members }) => members.length === 5)).toBe(true)
  })

  it('gives peers with slow uplinks smaller parts', () => {
    const pool = offices(1)
    const peers = pool.peers.map((peer) => ({ ...peer, memoryBytes: 7e6 }))
    const slow = { ...peers[2]!, uploadBytesPerSecond: 5e5 }
    const layers = evenModel.layers.map((layer) => ({ ...layer, activationBytesPerSample: 1e3 }))
    const profile = { ...evenModel, layers, averageEveryUpdates: 20 }
    const plan = planned({ ...pool, peers: peers.with(2, slow) }, profile, 2)
    const held = (peer: string) => {
      const stage = plan.clusters.flatMap(({ stages }) => stages).find((each) => each.peer === peer)
      return stage === undefined ? 0 : stage.layers[1] - stage.layers[0]
    }
    expect([0, 1, 2, 3].map((index) => held(`pc-${index}`)).toSorted()).toEqual([2, 4, 4, 6])
    expect(held('pc-2')).toBe(2)
  })

  it('gives the same plan for the same seed, with the figures of its stages', { timeout: 60_000 }, () => {
    const { pool, profile } = largeCase(4, 20)
    const plan = planned(pool, profile)
    expect(planned(pool, profile)).toEqual(plan)
    const { unused, ...figures } = plan
    expect(
      planFigures(
        pool,
        profile,
        plan.clusters.map(({ stages }) => stages),
      ),
    ).toEqual(figures)
    expect(unused.length).toBe(20 - plan.clusters.flatMap(({ stages }) => stages).length)
  })
})
