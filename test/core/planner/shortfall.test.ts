import { describe, expect, it } from 'vitest'
import { createCostModel } from '../../../main/core/planner/cost.ts'
import { leastShortfall } from '../../../main/core/planner/shortfall.ts'
import { createRng, nextInt } from '../../../shared/random.ts'
import { leastGrowth, memoryOf } from './brute-force.ts'
import { randomCase } from './random-pools.ts'

/** Pools that are mostly too small. */
function scarce(seed: number, peers: number, layers: number) {
  const { pool, profile } = randomCase(seed, () => ({ peers, layers }))
  return {
    pool: { ...pool, peers: pool.peers.map((peer) => ({ ...peer, memoryBytes: peer.memoryBytes / 6 })) },
    profile,
  }
}

describe('the least shortfall of a pool', () => {
  it('is exact, and growing its peers by it makes the model fit', () => {
    for (let seed = 0; seed < 60; seed++) {
      const rng = createRng(seed)
      const { pool, profile } = scarce(seed, 1 + nextInt(rng, 5), 1 + nextInt(rng, 6))
      const everyone = pool.peers.map((_, place) => place)
      const { missingBytes, stages } = leastShortfall(createCostModel(pool, profile), everyone, rng)
      expect(missingBytes).toBeCloseTo(leastGrowth(pool, profile), 3)
      const grown = stages.map(({ peer, layers: [from, to] }) =>
        Math.max(0, memoryOf(profile, from, to) - pool.peers[peer]!.memoryBytes),
      )
      expect(grown.reduce((sum, bytes) => sum + bytes, 0)).toBeCloseTo(missingBytes, 3)
      expect(stages.map(({ layers }) => layers[0])).toEqual([
        0,
        ...stages.slice(0, -1).map(({ layers }) => layers[1]),
      ])
      expect(stages.at(-1)?.layers[1]).toBe(profile.layers.length)
    }
  })

  it('is never less than all peers together lack, and enough, in pools too large to try every order', () => {
    for (let seed = 0; seed < 10; seed++) {
      const { pool, profile } = scarce(seed, 30, 40)
      const everyone = pool.peers.map((_, place) => place)
      const { missingBytes, stages } = leastShortfall(createCostModel(pool, profile), everyone, createRng(1))
      const lent = pool.peers.reduce((sum, peer) => sum + peer.memoryBytes, 0)
      expect(missingBytes).toBeGreaterThanOrEqual(Math.max(0, memoryOf(profile, 0, 40) - lent))
      expect(new Set(stages.map(({ peer }) => peer)).size).toBe(stages.length)
      expect(stages.at(-1)?.layers[1]).toBe(40)
    }
  })
})
