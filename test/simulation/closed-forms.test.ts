/** Where the cost model is exact, the simulation of the real core gives its rate. */
import { describe, expect, it } from 'vitest'
import { planFigures } from '../../main/core/planner/plan-figures.ts'
import { planPool } from '../../main/core/planner/plan-pool.ts'
import { bottleneckOf } from '../../main/simulation/why-slow.ts'
import { nextInt } from '../../shared/random.ts'
import { randomCase } from '../core/planner/random-pools.ts'
import { poolOf, profileOf, rows, run } from './small.ts'

/** Of a window of a few hundred micro-batches, one may be in or out. */
const nearly = (rate: number, expected: number) => {
  expect(Math.abs(rate / expected - 1)).toBeLessThan(0.01)
}

describe('a cluster of three', () => {
  const profile = profileOf(3)

  it('is as fast as its slowest processor: b / (b·f·(1+β)/F)', async () => {
    const pool = poolOf([{ flopsPerSecond: 800 }, { flopsPerSecond: 400 }, { flopsPerSecond: 1200 }])
    const { samplesPerSecond, stages } = await run({ pool, profile, layout: rows(pool, profile) })
    nearly(samplesPerSecond, 10)
    expect(stages.map(({ busyShare }) => Number(busyShare.toFixed(2)))).toEqual([0.5, 1, 0.33])
  })

  it('counts what each call of an engine costs: two a micro-batch, one at the end, and the update’s', async () => {
    // A = 2: 1 s of work and 2.5 calls of 0.4 s; then the leaf with 1.5 of 1 s.
    const middle = poolOf([{}, { flopsPerSecond: 400, callSeconds: 0.4 }, {}])
    nearly((await run({ pool: middle, profile, layout: rows(middle, profile) })).samplesPerSecond, 10 / 2)
    const leaf = poolOf([{}, {}, { flopsPerSecond: 400, callSeconds: 1 }])
    nearly((await run({ pool: leaf, profile, layout: rows(leaf, profile) })).samplesPerSecond, 10 / 2.5)
  })

  it('is as fast as the upload that carries activations down and gradients up', async () => {
    const pool = poolOf([{}, { uploadBytesPerSecond: 2000 }, {}])
    // b·(100 + 100) bytes a micro-batch.
    const { samplesPerSecond, stages } = await run({ pool, profile, layout: rows(pool, profile) })
    nearly(samplesPerSecond, 10)
    expect(stages[1]?.uploadShare).toBeCloseTo(1, 2)
  })

  it('is as fast as the download of its middle', async () => {
    const pool = poolOf([{}, { downloadBytesPerSecond: 2000 }, {}])
    nearly((await run({ pool, profile, layout: rows(pool, profile) })).samplesPerSecond, 10)
  })

  it('is as fast as the narrowest way between two, each direction by itself', async () => {
    const links = [{ between: ['pc-0', 'pc-1'] as [string, string], bytesPerSecond: 1000 }]
    const pool = poolOf([{}, {}, {}], { links })
    nearly((await run({ pool, profile, layout: rows(pool, profile) })).samplesPerSecond, 10)
  })

  it('has K micro-batches a round trip where only the way is long', async () => {
    const pool = poolOf([{}, {}, {}], { defaultLatencySeconds: 0.5 })
    // R = 4 · 0.5 s.
    for (const inFlight of [1, 2, 5]) {
      const credits = { ...profile, inFlight }
      const { samplesPerSecond } = await run({ pool, profile: credits, layout: rows(pool, profile) })
      nearly(samplesPerSecond, (10 * inFlight) / 2)
    }
  })

  it('counts work, both lines and both ways into a round trip of one credit', async () => {
    const pool = poolOf(
      [{ flopsPerSecond: 400, uploadBytesPerSecond: 1000 }, { downloadBytesPerSecond: 500 }, {}],
      { defaultLatencySeconds: 0.25 },
    )
    // Compute 1 s; 1000 bytes to the middle at 500/s, from the leaf to it the same, others at once; 4 · 0.25 s.
    const one = { ...profile, inFlight: 1 }
    const { samplesPerSecond } = await run({ pool, profile: one, layout: rows(pool, profile) })
    nearly(samplesPerSecond, 10 / (1 + 2 + 2 + 1))
  })
})

describe('clusters that average', () => {
  it('wait for the round where it takes longer than the updates: H·A·b / averaging each', async () => {
    const profile = profileOf(1, { averageEveryUpdates: 50, inFlight: 1 })
    const pool = poolOf(
      Array.from({ length: 4 }, () => ({ flopsPerSecond: 4000, uploadBytesPerSecond: 10 })),
      { defaultLatencySeconds: 0.1 },
    )
    const layout = rows(pool, profile, 4)
    // 2·3/4 · 1000 bytes at 10/s, and 6 steps of 0.1 s, for 50 · 2 · 10 samples and the update at its border.
    expect(layout.averagingSeconds).toBeCloseTo(150.6, 9)
    const figures = await run({ pool, profile, layout, minutes: 300 })
    expect(figures.samplesPerSecond / ((4 * 1000) / 150.6)).toBeGreaterThan(0.97)
    expect(figures.samplesPerSecond / ((4 * 1000) / 150.6)).toBeLessThan(1.03)
    expect(figures.rounds.abandoned).toBe(0)
    expect(bottleneckOf(figures).limit).toBe('averaging')
  })

  it('send 2(C−1)/C of what they hold in each round', async () => {
    const profile = profileOf(2, { averageEveryUpdates: 3 })
    const pool = poolOf(Array.from({ length: 6 }, () => ({ flopsPerSecond: 400 })))
    const figures = await run({ pool, profile, layout: rows(pool, profile, 3) })
    // Each of the two rings has three members with 1000 bytes: 3 · 2·2/3 · 1000 a round.
    const roundsOfRings = figures.rounds.averaged / 3
    expect(roundsOfRings).toBeGreaterThan(10)
    expect(figures.bytesSent.parameters / roundsOfRings).toBeCloseTo(4000, 6)
  })
})

describe('any pool of one cluster with credits to spare', () => {
  it('has the rate of the cost model where its messages fit into a send buffer, and never more', async () => {
    let compared = 0
    for (let seed = 1; seed <= 20; seed++) {
      const drawn = randomCase(seed, (rng) => ({ peers: 2 + nextInt(rng, 4), layers: 2 + nextInt(rng, 5) }))
      const layers = drawn.profile.layers.map((layer) => ({ ...layer, workingBytesPerSample: 0 }))
      const profile = { ...drawn.profile, layers, inFlight: 32, stateFactor: 0 }
      const layout = planPool({ pool: drawn.pool, profile, seed, clusters: 1 })
      if ('feasible' in layout) continue
      const stages = layout.clusters.map((cluster) => cluster.stages)
      const half = planFigures(drawn.pool, { ...profile, inFlight: 16 }, stages)
      // Near the border of the two terms of min(1/T, K/R) queues form, and the model is an upper bound.
      if (half.samplesPerSecond < layout.samplesPerSecond) continue
      compared += 1
      const minutes = (2000 * profile.microBatch) / layout.samplesPerSecond / 60
      const { samplesPerSecond } = await run({ pool: drawn.pool, profile, layout, minutes })
      const largest = Math.max(...layers.map((layer) => layer.activationBytesPerSample)) * profile.microBatch
      // A stage does backwards first; messages that wait for the line meanwhile leave it idle at times.
      if (largest <= 256 * 1024) nearly(samplesPerSecond, layout.samplesPerSecond)
      else expect(samplesPerSecond).toBeLessThan(1.01 * layout.samplesPerSecond)
    }
    expect(compared).toBeGreaterThan(10)
  })
})
