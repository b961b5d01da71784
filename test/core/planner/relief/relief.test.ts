import { describe, expect, it } from 'vitest'
import { planPool } from '../../../../main/core/planner/plan-pool.ts'
import { type Bottleneck, bottleneckOf } from '../../../../main/core/planner/relief/relief.ts'
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { ModelProfile, Pool } from '../../../../shared/plan/pool.ts'
import { nextInt } from '../../../../shared/random.ts'
import { bestRate } from '../brute-force.ts'
import { largeCase } from '../large-pools.ts'
import { randomCase } from '../random-pools.ts'

/** Two layers of 1e6 FLOPs and 500 bytes, with 1000 bytes between them, a sample at a time. */
const halves: ModelProfile = {
  name: 'two halves',
  layers: ['first', 'second'].map((name) => ({
    ...{ name, parameterBytes: 500, activationBytesPerSample: 1000 },
    ...{ workingBytesPerSample: 0, flopsPerSample: 1e6 },
  })),
  stateFactor: 0,
  microBatch: 1,
  inFlight: 100,
  accumulate: 4,
  averageEveryUpdates: 1000,
  backwardFactor: 3,
  codec: 'fp32',
}

/** PCs that hold a half each: 4 ms a sample, and lines that do not matter. */
function poolOf(...peers: readonly Partial<Pool['peers'][number]>[]): Pool {
  return {
    peers: peers.map((peer, index) => ({
      ...{ id: `pc-${index}`, memoryBytes: 500, flopsPerSecond: 1e9 },
      ...{ uploadBytesPerSecond: 1e9, downloadBytesPerSecond: 1e9, ...peer },
    })),
    links: [],
    defaultLatencySeconds: 0,
  }
}

function lookedAt(pool: Pool, profile: ModelProfile): Bottleneck & { readonly rate: number } {
  const layout = planPool({ pool, profile, seed: 1 })
  if ('feasible' in layout) throw new InvalidInputError(layout.reason)
  return { ...bottleneckOf({ pool, profile, seed: 1, layout }), rate: layout.samplesPerSecond }
}

const gainOf = ({ remedies }: Bottleneck, change: string) =>
  remedies.find((remedy) => remedy.change === change)?.gain

describe('what holds a plan back', () => {
  it('is the upload that a micro-batch takes longest on: twice of it, twice the rate', () => {
    // 1000 bytes a sample at 10 kB/s: ten samples a second.
    const found = lookedAt(poolOf({ uploadBytesPerSecond: 10_000 }, {}), halves)
    expect(found).toMatchObject({ limit: 'upload', cluster: 0, peers: ['pc-0'], seconds: 0.1 })
    expect(found.sentence).toBe(
      'The upload of pc-0, 0.08 Mbit/s, holds the pool back; with 0.16 Mbit/s up: +100 %, 20 samples/s.',
    )
    expect(gainOf(found, '0.16 Mbit/s up')).toBeCloseTo(1, 9)
    expect(gainOf(found, 'all PCs twice as fast')).toBeCloseTo(0, 9)
    // A quarter of the bytes, and a scale in every 256 of them.
    expect(gainOf(found, 'activations and gradients as int8')).toBeGreaterThan(2.8)
  })

  it('gains no more than up to the next limit', () => {
    // 250 samples a second by computing, 200 by the upload.
    const found = lookedAt(poolOf({ uploadBytesPerSecond: 200_000 }, {}), halves)
    expect([found.limit, found.rate]).toEqual(['upload', 200])
    expect(gainOf(found, '3.2 Mbit/s up')).toBeCloseTo(0.25, 9)
  })

  it('is a download, or the link between two', () => {
    const slow = lookedAt(poolOf({}, { downloadBytesPerSecond: 10_000 }), halves)
    expect(slow.sentence).toBe(
      'The download of pc-1, 0.08 Mbit/s, holds the pool back; with 0.16 Mbit/s down: +100 %, 20 samples/s.',
    )
    const links: Pool['links'] = [{ between: ['pc-0', 'pc-1'], bytesPerSecond: 10_000 }]
    expect(lookedAt({ ...poolOf({}, {}), links }, halves).sentence).toBe(
      'The link between pc-1 and pc-0 holds the pool back; with 0.16 Mbit/s between them: +100 %, 20 samples/s.',
    )
  })

  it('is a slow PC', () => {
    const found = lookedAt(poolOf({ flopsPerSecond: 1e8 }, {}), halves)
    expect(found.sentence).toBe(
      'The speed of pc-0, 0.1 GFLOP/s, holds the pool back; with pc-0 twice as fast: +100 %, 50 samples/s.',
    )
  })

  it('is the round trip where too few micro-batches are in flight', () => {
    // 8 ms of computing and 0.1 s there and back, two in flight.
    const far = { ...poolOf({}, {}), defaultLatencySeconds: 0.046 }
    const found = lookedAt(far, { ...halves, inFlight: 2 })
    expect([found.limit, found.rate]).toEqual(['round-trip', expect.closeTo(20, 3)])
    expect(found.sentence).toMatch(
      /^2 micro-batches in flight do not hide the 100 ms of a round trip in the pool; with 4 micro-batches in flight: \+100 %, 40 samples\/s\.$/,
    )
    expect(gainOf(found, 'half the latency everywhere')).toBeCloseTo(0.1 / 0.054 - 1, 4)
  })

  it('is averaging where rounds take longer than the training between them', () => {
    // Whole models at 125 samples a second each; a round is 1000 bytes at 1000 bytes/s for 4 samples of either.
    const whole = { memoryBytes: 1000 }
    const pool = poolOf({ ...whole, uploadBytesPerSecond: 1000 }, whole)
    const layout = planPool({ pool, profile: { ...halves, averageEveryUpdates: 1 }, seed: 1, clusters: 2 })
    if ('feasible' in layout) throw new InvalidInputError(layout.reason)
    const found = bottleneckOf({ pool, profile: { ...halves, averageEveryUpdates: 1 }, seed: 1, layout })
    expect(found).toMatchObject({ limit: 'averaging', peers: ['pc-0'], seconds: 1 })
    expect(found.sentence).toMatch(
      /^Averages take 1 s a round, most of it over the upload of pc-0, 0\.008 Mbit\/s; with /,
    )
  })

  it('of averages is the slower of a member’s two ways; where they are alike, both must be wider', () => {
    const whole = { memoryBytes: 1000 }
    const often = { ...halves, averageEveryUpdates: 1 }
    const sentence = (line: Partial<Pool['peers'][number]>) => {
      const pool = poolOf({ ...whole, ...line }, whole)
      const layout = planPool({ pool, profile: often, seed: 1, clusters: 2 })
      if ('feasible' in layout) throw new InvalidInputError(layout.reason)
      // A round of 1000 bytes at 1000 bytes/s.
      expect(layout.averagingSeconds).toBeCloseTo(1, 9)
      return bottleneckOf({ pool, profile: often, seed: 1, layout })
    }
    const down = sentence({ downloadBytesPerSecond: 1000 })
    expect(down.sentence).toMatch(/most of it over the download of pc-0, 0\.008 Mbit\/s; with /)
    const changes = ({ remedies }: Bottleneck) => remedies.map(({ change }) => change)
    expect(changes(down)).toContain('0.016 Mbit/s down')
    const both = sentence({ uploadBytesPerSecond: 1000, downloadBytesPerSecond: 1000 })
    expect(changes(both)).toContain('0.016 Mbit/s up and down')
    expect(changes(both)).not.toContain('0.016 Mbit/s up')
  })

  it('is as much worth as the best plan for the changed pool: every order, every cut', () => {
    let compared = 0
    for (let seed = 0; seed < 40; seed++) {
      const { pool, profile } = randomCase(seed, (rng) => ({
        peers: 1 + nextInt(rng, 4),
        layers: 1 + nextInt(rng, 5),
      }))
      if ('feasible' in planPool({ pool, profile, seed: 1 })) continue
      const found = lookedAt(pool, profile)
      const double = (of: 'flopsPerSecond' | 'uploadBytesPerSecond') => ({
        ...pool,
        peers: pool.peers.map((peer) => ({ ...peer, [of]: 2 * peer[of] })),
      })
      const faster = bestRate(double('flopsPerSecond'), profile)
      const wider = bestRate(double('uploadBytesPerSecond'), profile)
      expect(gainOf(found, 'all PCs twice as fast')).toBeCloseTo(faster / found.rate - 1, 6)
      expect(gainOf(found, 'all uploads twice as wide')).toBeCloseTo(wider / found.rate - 1, 6)
      const gains = found.remedies.map(({ gain }) => gain)
      expect(gains).toEqual(gains.toSorted((a, b) => b - a))
      compared++
    }
    expect(compared).toBeGreaterThan(25)
  })

  it('is found in large pools, too, and never said to make them slower', { timeout: 60_000 }, () => {
    const { pool, profile } = largeCase(4, 24)
    const found = lookedAt(pool, profile)
    expect(found.sentence).toMatch(/^[^\n]+ \+\d+ %, \d[\d.]* samples\/s\.$/)
    expect(Math.min(...found.remedies.map(({ gain }) => gain))).toBeGreaterThanOrEqual(-1e-9)
    expect(found.remedies[0]?.gain).toBeGreaterThan(0)
  })
})
