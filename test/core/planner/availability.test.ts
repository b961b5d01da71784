import { describe, expect, it } from 'vitest'
import { shareOfTime } from '../../../main/core/planner/availability.ts'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import type { Availability, ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, nextInt } from '../../../shared/random.ts'
import { bestRate, poolRate } from './brute-force.ts'
import { largeCase } from './large-pools.ts'
import { randomCase, withAbsences } from './random-pools.ts'

const halves: ModelProfile = {
  name: 'two halves',
  layers: ['first', 'second'].map((name) => ({
    name,
    parameterBytes: 500,
    activationBytesPerSample: 10,
    workingBytesPerSample: 0,
    flopsPerSample: 1e6,
  })),
  stateFactor: 0,
  microBatch: 1,
  inFlight: 8,
  accumulate: 4,
  averageEveryUpdates: 1000,
  backwardFactor: 3,
  codec: 'fp32',
}

/** PCs that hold a half each, alike but for when they are there. */
function poolOf(...times: readonly Availability[]): Pool {
  return {
    peers: times.map((availability, index) => ({
      ...{ id: `pc-${index}`, memoryBytes: 500, flopsPerSecond: 1e9, availability },
      ...{ uploadBytesPerSecond: 1e8, downloadBytesPerSecond: 1e8 },
    })),
    links: [],
    defaultLatencySeconds: 0,
  }
}

function planned(pool: Pool, profile: ModelProfile = halves): Layout {
  const answer = planPool({ pool, profile, seed: 1 })
  if ('feasible' in answer) throw new InvalidInputError(answer.reason)
  return answer
}

const membersOf = ({ clusters }: Layout) =>
  clusters.map(({ stages }) => stages.map(({ peer }) => peer).sort()).sort()

describe('the availability of a PC', () => {
  it.each([
    [undefined, 1],
    [{}, 1],
    [{ hoursPerDay: 6 }, 0.25],
    [{ batteryShare: 0.2 }, 0.8],
    [{ reliability: 0.9 }, 0.9],
    [{ hoursPerDay: 12, batteryShare: 0.5, reliability: 0.8 }, 0.2],
    [{ hoursPerDay: 0 }, 0],
  ])('%o is a share of the time: %d', (availability, share) => {
    expect(shareOfTime(availability === undefined ? {} : { availability })).toBeCloseTo(share, 12)
  })
})

describe('a plan with PCs that are not always there', () => {
  it('counts a cluster for the time in which all of its PCs are there', () => {
    // A half is 4 ms a sample: 250 samples a second while both are there.
    expect(planned(poolOf({}, {})).samplesPerSecond).toBeCloseTo(250, 6)
    expect(planned(poolOf({ hoursPerDay: 12 }, { reliability: 0.8 })).samplesPerSecond).toBeCloseTo(100, 6)
  })

  it('puts those who are seldom there together, so that the others need not wait for them', () => {
    const seldom = { hoursPerDay: 6 }
    const plan = planned(poolOf(seldom, {}, seldom, {}))
    expect(membersOf(plan)).toEqual([
      ['pc-0', 'pc-2'],
      ['pc-1', 'pc-3'],
    ])
    // 250 all the time, and 250 when both happen to be there: a sixteenth of it.
    expect(plan.samplesPerSecond).toBeCloseTo(250 * (1 + 1 / 16), 6)
  })

  it('takes the reliable one of two PCs that are alike, and leaves out one that is never there', () => {
    expect(membersOf(planned(poolOf({ reliability: 0.5 }, { reliability: 0.9 }, {})))).toEqual([
      ['pc-1', 'pc-2'],
    ])
    const { unused } = planned(poolOf({}, {}, { hoursPerDay: 0 }))
    expect(unused).toEqual([{ peer: 'pc-2', reason: 'it is never there' }])
  })

  it('is the best of all plans of small pools', { timeout: 60_000 }, () => {
    const ratios: number[] = []
    for (let seed = 0; seed < 100; seed++) {
      const { pool, profile } = randomCase(seed, (rng) => ({
        peers: 2 + nextInt(rng, 4),
        layers: 1 + nextInt(rng, 6),
      }))
      const sometimes = withAbsences(pool, createRng(seed))
      const best = bestRate(sometimes, profile)
      if (best > 0) ratios.push(planned(sometimes, profile).samplesPerSecond / best)
    }
    expect(ratios.length).toBeGreaterThan(60)
    expect(Math.max(...ratios)).toBeLessThan(1 + 1e-9)
    expect(Math.min(...ratios)).toBeGreaterThan(1 - 1e-6)
  })

  it('has the figures of its stages in large pools, too', { timeout: 60_000 }, () => {
    const { pool, profile } = largeCase(4, 24)
    const sometimes = withAbsences(pool, createRng(4))
    const plan = planned(sometimes, profile)
    const clusters = plan.clusters.map(({ stages }) =>
      stages.map(({ peer, layers: [from, to] }) => ({
        peer: pool.peers.findIndex(({ id }) => id === peer),
        ...{ from, to },
      })),
    )
    expect(plan.samplesPerSecond / poolRate(sometimes, profile, clusters)).toBeCloseTo(1, 9)
  })
})
