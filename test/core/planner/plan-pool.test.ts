import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planFigures } from '../../../main/core/planner/plan-figures.ts'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import { type DoesNotFit, type Layout, layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { nextInt } from '../../../shared/random.ts'
import {
  averagingOf,
  bestRate,
  clusterRate,
  leastGrowth,
  memoryOf,
  type PlainStage,
  poolRate,
} from './brute-force.ts'
import { randomCase } from './random-pools.ts'

/** A model of layers that need so many bytes each, of equal work; numbers that make sums easy. */
function profileOfNeeds(needs: readonly number[]): ModelProfile {
  return {
    name: 'needs',
    layers: needs.map((bytes, index) => ({
      name: `layer-${index}`,
      parameterBytes: bytes,
      activationBytesPerSample: 1000,
      workingBytesPerSample: 0,
      flopsPerSample: 1e6,
    })),
    stateFactor: 0,
    microBatch: 1,
    inFlight: 4,
    accumulate: 4,
    averageEveryUpdates: 10,
    backwardFactor: 3,
    codec: 'fp32',
  }
}

function poolOf(...peers: readonly Partial<Pool['peers'][number]>[]): Pool {
  return {
    peers: peers.map((peer, index) => ({
      id: `pc-${index}`,
      memoryBytes: 1000,
      flopsPerSecond: 1e9,
      uploadBytesPerSecond: 1e7,
      downloadBytesPerSecond: 1e7,
      ...peer,
    })),
    links: [],
    defaultLatencySeconds: 0.001,
  }
}

function planned(pool: Pool, profile: ModelProfile, clusters?: number): Layout {
  const answer = planPool({ pool, profile, seed: 1, ...(clusters === undefined ? {} : { clusters }) })
  if ('feasible' in answer) throw new InvalidInputError(answer.reason)
  return answer
}

function refused(pool: Pool, profile: ModelProfile, clusters?: number): DoesNotFit {
  const answer = planPool({ pool, profile, seed: 1, ...(clusters === undefined ? {} : { clusters }) })
  if ('feasible' in answer) return answer
  throw new InvalidInputError('it fits')
}

function plainStages(pool: Pool, plan: Layout): PlainStage[][] {
  return plan.clusters.map(({ stages }) =>
    stages.map(({ peer, layers: [from, to] }) => ({
      peer: pool.peers.findIndex(({ id }) => id === peer),
      from,
      to,
    })),
  )
}

const small = (seed: number) =>
  randomCase(seed, (rng) => ({ peers: 1 + nextInt(rng, 5), layers: 1 + nextInt(rng, 7) }))

describe('the planner', () => {
  it(
    'finds the best plan of 300 small pools, or the exact bytes that are missing',
    { timeout: 120_000 },
    () => {
      const ratios: number[] = []
      for (let seed = 0; seed < 300; seed++) {
        const { pool, profile } = small(seed)
        const answer = planPool({ pool, profile, seed })
        if ('feasible' in answer) {
          expect(bestRate(pool, profile)).toBe(0)
          expect(answer.shortfallBytes / leastGrowth(pool, profile)).toBeCloseTo(1, 9)
        } else ratios.push(answer.samplesPerSecond / bestRate(pool, profile))
      }
      expect(ratios.length).toBeGreaterThan(200)
      expect(Math.max(...ratios)).toBeLessThan(1 + 1e-9)
      expect(Math.min(...ratios)).toBeGreaterThan(0.98)
      expect(ratios.filter((ratio) => ratio > 1 - 1e-6).length / ratios.length).toBeGreaterThanOrEqual(0.99)
    },
  )

  it('makes exactly as many clusters as were asked for, and the best such plan', { timeout: 60_000 }, () => {
    let compared = 0
    for (let seed = 0; seed < 120; seed++) {
      const { pool, profile } = small(seed)
      const best = bestRate(pool, profile, 2)
      const answer = planPool({ pool, profile, seed, clusters: 2 })
      expect('feasible' in answer).toBe(best === 0)
      if ('feasible' in answer) continue
      expect(answer.clusters.length).toBe(2)
      expect(answer.samplesPerSecond / best).toBeCloseTo(1, 6)
      compared++
    }
    expect(compared).toBeGreaterThan(20)
  })

  it('plans every pool within memory, over all layers once, with figures that the formulas give', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 9 }), (seed, peers) => {
        const { pool, profile } = randomCase(seed, (rng) => ({ peers, layers: 1 + nextInt(rng, 60) }))
        const answer = planPool({ pool, profile, seed })
        if ('feasible' in answer) {
          expect(answer.shortfallBytes).toBeGreaterThan(0)
          return
        }
        const clusters = plainStages(pool, answer)
        expect(layout.parse(answer)).toEqual(answer)
        for (const stages of clusters) {
          expect(stages.map(({ from }) => from)).toEqual([0, ...stages.slice(0, -1).map(({ to }) => to)])
          expect(stages.at(-1)?.to).toBe(profile.layers.length)
          for (const { peer, from, to } of stages)
            expect(memoryOf(profile, from, to)).toBeLessThanOrEqual(pool.peers[peer]!.memoryBytes)
        }
        const busy = clusters.flat().map(({ peer }) => pool.peers[peer]!.id)
        const everyone = [...busy, ...answer.unused.map(({ peer }) => peer)]
        expect(everyone.toSorted()).toEqual(pool.peers.map(({ id }) => id).toSorted())
        expect(answer.averagingSeconds).toBeCloseTo(averagingOf(pool, profile, clusters), 6)
        expect(answer.samplesPerSecond / poolRate(pool, profile, clusters)).toBeCloseTo(1, 9)
        expect(answer).toMatchObject(
          planFigures(
            pool,
            profile,
            answer.clusters.map(({ stages }) => stages),
          ),
        )
        const rates = answer.clusters.map(({ samplesPerSecond }) => samplesPerSecond)
        expect(rates.reduce((sum, rate) => sum + rate, 0) / answer.samplesPerSecond).toBeCloseTo(1, 9)
        for (const [index, stages] of clusters.entries())
          expect(rates[index]).toBeLessThanOrEqual(clusterRate(pool, profile, stages) * (1 + 1e-9))
      }),
      { numRuns: 20, seed: 7 },
    )
  }, 120_000)

  it('gives the same plan for the same seed', () => {
    const { pool, profile } = randomCase(5, () => ({ peers: 8, layers: 9 }))
    expect(planPool({ pool, profile, seed: 3 })).toEqual(planPool({ pool, profile, seed: 3 }))
  })

  it('puts all layers on one peer when there is only one', () => {
    const plan = planned(poolOf({}), profileOfNeeds([400, 600]))
    expect(plan).toEqual({
      clusters: [
        {
          stages: [{ peer: 'pc-0', layers: [0, 2], memoryBytes: 1000, secondsPerMicroBatch: 0.008 }],
          samplesPerSecond: 125,
        },
      ],
      rings: [{ layers: [[0, 2]], members: ['pc-0'] }],
      unused: [],
      samplesPerSecond: 125,
      averagingSeconds: 0,
    })
  })

  it('needs one stage less rather than more for the same rate', () => {
    // Links are free, so two halves on equal peers with one in flight take as long as one peer alone.
    const pool = { ...poolOf({}, { memoryBytes: 600 }), defaultLatencySeconds: 0 }
    const profile = { ...profileOfNeeds([500, 500]), inFlight: 1 }
    profile.layers.forEach((layer) => (layer.activationBytesPerSample = 0))
    expect(planned(pool, profile).clusters).toMatchObject([{ stages: [{ layers: [0, 2] }] }])
  })

  it('balances a pipeline whose rate depends on its round trip alone', () => {
    const pool = poolOf({ memoryBytes: 900 }, { memoryBytes: 900 })
    const plan = planned(pool, { ...profileOfNeeds([200, 200, 200, 200, 200, 200]), inFlight: 1 })
    expect(plan.clusters[0]?.stages.map(({ layers }) => layers)).toEqual([
      [0, 3],
      [3, 6],
    ])
  })

  it.each([
    [{ memoryBytes: 0 }, 'it lends no memory'],
    [{ flopsPerSecond: 0 }, 'its speed is 0'],
    [{ uploadBytesPerSecond: 0 }, 'its upload or download bandwidth is 0, so it could only train alone'],
    [{ downloadBytesPerSecond: 0 }, 'its upload or download bandwidth is 0, so it could only train alone'],
    [{ memoryBytes: 100 }, 'its memory holds not one layer of the model'],
    [{ flopsPerSecond: 1 }, 'the pool is not faster with it'],
  ])('leaves out a peer with %o and says why', (peer, reason) => {
    const plan = planned(poolOf({}, peer, {}), profileOfNeeds([400, 600]))
    expect(plan.clusters.flatMap(({ stages }) => stages.map((stage) => stage.peer))).not.toContain('pc-1')
    expect(plan.unused).toEqual([{ peer: 'pc-1', reason }])
  })

  it('lets a peer without bandwidth train alone where that is the best the pool can do', () => {
    const lonely = { uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 }
    const profile = profileOfNeeds([400, 600])
    expect(planned(poolOf(lonely), profile).samplesPerSecond).toBe(125)
    expect(planned(poolOf({ ...lonely, flopsPerSecond: 9e9 }, {}), profile).clusters).toMatchObject([
      { stages: [{ peer: 'pc-0' }] },
    ])
  })

  it('copes with more bytes a second than bytes of memory', () => {
    const fast = { uploadBytesPerSecond: 1e12, downloadBytesPerSecond: 1e12 }
    expect(planned(poolOf(fast, fast), profileOfNeeds([900, 900])).clusters).toMatchObject([
      { stages: [{ layers: [0, 1] }, { layers: [1, 2] }] },
    ])
  })

  it('asks for no more growth than one cluster needs, whole layers and all', () => {
    // 700 + 700 of 1000 + 1000 would do if layers could be cut; the third layer has to go somewhere whole.
    expect(refused(poolOf({}, {}), profileOfNeeds([700, 600, 700])).shortfallBytes).toBe(300)
    expect(refused(poolOf({}), profileOfNeeds([1001])).shortfallBytes).toBe(1)
    expect(refused(poolOf({}, {}), profileOfNeeds([50_000, 1000])).shortfallBytes).toBe(49_000)
    expect(refused(poolOf({ memoryBytes: 0 }), profileOfNeeds([700, 500])).shortfallBytes).toBe(1200)
    expect(
      refused(poolOf({ uploadBytesPerSecond: 0 }, {}, {}), profileOfNeeds([1200, 800])).shortfallBytes,
    ).toBe(200)
  })

  it('says so when enough memory is there but the links carry nothing', () => {
    const pool: Pool = { ...poolOf({}, {}), links: [{ between: ['pc-0', 'pc-1'], bytesPerSecond: 0 }] }
    const { shortfallBytes, reason } = refused(pool, profileOfNeeds([900, 900]))
    expect([shortfallBytes, reason]).toEqual([800, expect.stringContaining('cannot reach each other')])
  })

  it('says how much is missing for the clusters asked for', () => {
    const { shortfallBytes, reason } = refused(
      poolOf({}, {}, { memoryBytes: 300 }),
      profileOfNeeds([400, 600]),
      3,
    )
    expect([shortfallBytes, reason]).toEqual([700, expect.stringContaining('holds 2 of 3 clusters')])
  })

  it('refuses two peers of one name and a model without work', () => {
    const profile = profileOfNeeds([400])
    const twins = poolOf({ id: 'twin' }, { id: 'twin' })
    expect(() => planPool({ pool: twins, profile, seed: 0 })).toThrow(InvalidInputError)
    const idle = { ...profile, layers: profile.layers.map((layer) => ({ ...layer, flopsPerSample: 0 })) }
    expect(() => planPool({ pool: poolOf({}), profile: idle, seed: 0 })).toThrow(InvalidInputError)
  })
})
