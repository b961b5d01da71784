import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Pool, adam, createPool, momentum, normGraph, plainGraph, ringsOf } from '../pipeline/pool.ts'

const runs = fc.record({
  seed: fc.nat({ max: 1_000_000 }),
  cuts: fc.array(fc.constantFrom([], [3], [2, 5], [1, 3, 6], [4]), { minLength: 1, maxLength: 4 }),
  graph: fc.constantFrom(plainGraph, normGraph),
  optimizer: fc.constantFrom(adam, momentum),
  inFlight: fc.integer({ min: 1, max: 6 }),
  accumulate: fc.integer({ min: 1, max: 3 }),
  averageEvery: fc.integer({ min: 1, max: 4 }),
  targetUpdates: fc.integer({ min: 1, max: 12 }),
  staleness: fc.constantFrom('none' as const, 'predict' as const),
  linkMs: fc.constantFrom(0, 1, 40),
  window: fc.constantFrom(1, 50),
})

const disturbances = fc.array(fc.record({ atMs: fc.nat({ max: 400 }), member: fc.nat({ max: 20 }) }), {
  minLength: 1,
  maxLength: 6,
})

/** Every cluster has the same bits and made its updates, and nobody refused a message. */
async function expectOneModel(pool: Pool): Promise<void> {
  const { settings, clock, members } = pool
  const [first, ...others] = await clock.runUntil(
    Promise.all(settings.cuts.map((_, cluster) => pool.numbers(cluster))),
  )
  for (const other of others) expect(other).toEqual(first)
  for (const { stage, refused } of members) {
    expect(stage.progress().updates).toBe(settings.targetUpdates)
    expect(refused).toEqual([])
  }
}

describe('a pool of clusters that train at their own pace', () => {
  it('always ends, bit-identical, every cluster at the target, whatever the cuts, credits, delays and H', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (run) => {
        const pool = await createPool({ ...run, engineMs: (cluster) => 1 + 3 * cluster })
        const outcomes = await pool.trainAndAverage()
        expect(new Set(outcomes)).toEqual(new Set(['averaged']))
        await expectOneModel(pool)
      }),
      { numRuns: 50 },
    )
  })

  it('survives rounds given up at any moment by anyone while it trains', async () => {
    await fc.assert(
      fc.asyncProperty(runs, disturbances, async (run, moments) => {
        const pool = await createPool({ ...run, engineMs: (cluster) => 1 + 3 * cluster })
        let drained = false
        for (const { stage } of pool.members)
          stage.finished.then(
            () => (drained = true),
            () => undefined,
          )
        for (const { atMs, member } of moments)
          void pool.clock.sleep(atMs).then(() => {
            if (!drained) pool.members[member % pool.members.length]!.averaging.abandon('a disturbance')
          })
        expect(new Set(await pool.trainAndAverage())).toEqual(new Set(['averaged']))
        await expectOneModel(pool)
      }),
      { numRuns: 50 },
    )
  })

  it('survives a new plan that reaches its members at different moments', async () => {
    await fc.assert(
      fc.asyncProperty(runs, disturbances, async (run, moments) => {
        const pool = await createPool({ ...run, engineMs: (cluster) => 1 + 3 * cluster })
        pool.start()
        const rings = ringsOf(run.cuts).map((plan, index) => ({ index, plan }))
        const ends = pool.members.map(async ({ peer, stage, averaging }, index) => {
          await pool.clock.sleep(moments[index % moments.length]!.atMs)
          const own = rings.filter(({ plan }) => plan.members.includes(peer))
          averaging.replan({ planNumber: 2, rings: own })
          await stage.finished
          return averaging.finalRound()
        })
        expect(new Set(await pool.clock.runUntil(Promise.all(ends)))).toEqual(new Set(['averaged']))
        await expectOneModel(pool)
      }),
      { numRuns: 50 },
    )
  })

  it('lets a fast cluster train more between rounds, but never 2H updates past its copy without a round', async () => {
    const averageEvery = 2
    const pool = await createPool({
      cuts: [[3], [2, 5]],
      targetUpdates: 24,
      averageEvery,
      engineMs: (cluster) => (cluster === 0 ? 2 : 40),
      linkMs: 1,
    })
    await pool.trainAndAverage()
    const rounds = pool.members.map((member) => member.rounds.length)
    // Per ring: at least one round in 2H updates of the fast one, and the last.
    for (const [index, { averaging, assignment }] of pool.members.entries()) {
      const rings = rounds[index]! / averaging.stats().averaged
      expect(rings).toBe(1)
      expect(averaging.stats().averaged).toBeGreaterThanOrEqual(assignment.targetUpdates / (2 * averageEvery))
    }
  })

  it('ends early when asked, with clusters at different updates, and still bit-identical', async () => {
    const pool = await createPool({
      cuts: [[], [3], [2, 5]],
      targetUpdates: 1000,
      averageEvery: 3,
      engineMs: (cluster) => 2 + 5 * cluster,
      linkMs: 10,
    })
    const ends = pool.trainAndAverage()
    const finishing = pool.clock.sleep(500).then(() => {
      for (const { stage } of pool.roots) stage.finish()
    })
    expect(new Set(await ends)).toEqual(new Set(['averaged']))
    await finishing
    const updates = pool.roots.map(({ stage }) => stage.progress().updates)
    expect(new Set(updates).size).toBe(3)
    const [one, two, three] = await pool.clock.runUntil(
      Promise.all([0, 1, 2].map((cluster) => pool.numbers(cluster))),
    )
    expect([two, three]).toEqual([one, one])
  })
})
