import { describe, expect, it } from 'vitest'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { enoughOfBest, replan } from '../../../main/core/planner/replan.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { randomCase } from './random-pools.ts'

function planned(pool: Pool, profile: ModelProfile): Layout | undefined {
  const answer = planPool({ pool, profile, seed: 1 })
  return 'feasible' in answer ? undefined : answer
}

const clustersOf = ({ clusters }: Layout) => clusters.map(({ stages }) => stages)

/** Bytes of weights that peers hold after and did not hold before: layer by layer. */
function movedLayers(profile: ModelProfile, before: Layout, after: Layout): number {
  const holds = (layout: Layout, peer: string, layer: number) =>
    clustersOf(layout)
      .flat()
      .some((stage) => stage.peer === peer && stage.layers[0] <= layer && layer < stage.layers[1])
  let moved = 0
  for (const { peer, layers } of clustersOf(after).flat())
    for (let layer = layers[0]; layer < layers[1]; layer++)
      if (!holds(before, peer, layer)) moved += profile.layers[layer]!.parameterBytes
  return moved
}

describe('planning again', () => {
  it(
    'after one of eight peers left keeps nearly the best rate and most weights in place',
    { timeout: 60_000 },
    () => {
      const shares: number[] = []
      for (const seed of [0, 2, 7, 9]) {
        const { pool, profile } = randomCase(seed, () => ({ peers: 8, layers: 10 }))
        const before = planned(pool, profile)
        // Pools in which most of the eight hold something: what only the lost peer held must move anyway.
        const gone = before?.clusters.at(-1)?.stages.at(-1)?.peer
        if (before === undefined || gone === undefined) continue
        const smaller = { ...pool, peers: pool.peers.filter(({ id }) => id !== gone) }
        const answer = replan({ pool: smaller, profile, seed: 1 }, clustersOf(before))
        if ('feasible' in answer) continue
        const anew = planned(smaller, profile)
        expect(answer.bestSamplesPerSecond).toBe(anew?.samplesPerSecond)
        expect(answer.layout.samplesPerSecond).toBeGreaterThanOrEqual(
          enoughOfBest * answer.bestSamplesPerSecond,
        )
        expect(answer.movedBytes).toBe(movedLayers(profile, before, answer.layout))
        shares.push(answer.movedBytes / answer.fullMoveBytes)
      }
      expect(shares.length).toBeGreaterThanOrEqual(4)
      expect(Math.max(...shares)).toBeLessThanOrEqual(0.6)
    },
  )

  it('leaves a plan alone that is still nearly the best', () => {
    const { pool, profile } = randomCase(3, () => ({ peers: 5, layers: 6 }))
    const before = planned(pool, profile)!
    const slower = {
      ...pool,
      peers: pool.peers.map((peer) => ({ ...peer, flopsPerSecond: 0.99 * peer.flopsPerSecond })),
    }
    const answer = replan({ pool: slower, profile, seed: 1 }, clustersOf(before))
    expect(answer).toMatchObject({ movedBytes: 0 })
  })

  it('refuses a plan of another model', () => {
    const { pool, profile } = randomCase(3, () => ({ peers: 5, layers: 6 }))
    const other = [[{ peer: 'pc-0', layers: [0, 9] as const }]]
    expect(() => replan({ pool, profile, seed: 1 }, other)).toThrow(InvalidInputError)
  })
})
