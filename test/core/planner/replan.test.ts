import { describe, expect, it } from 'vitest'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { enoughOfBest, type Replanned, replan } from '../../../main/core/planner/replan.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, nextInt, type Rng } from '../../../shared/random.ts'
import { fewestMovedBytes } from './brute-force.ts'
import { measuredPool, typedPool } from './large-pools.ts'
import { randomCase, randomPool, randomProfile } from './random-pools.ts'

interface Case {
  readonly pool: Pool
  readonly profile: ModelProfile
}

function planned({ pool, profile }: Case): Layout | undefined {
  const answer = planPool({ pool, profile, seed: 1 })
  return 'feasible' in answer ? undefined : answer
}

const clustersOf = ({ clusters }: Layout) => clusters.map(({ stages }) => stages)
const stagesOf = (layout: Layout) => clustersOf(layout).flat()

/** Bytes of weights that peers hold after and did not hold before: layer by layer. */
function movedLayers(profile: ModelProfile, before: Layout, after: Layout): number {
  const holds = (peer: string, layer: number) =>
    stagesOf(before).some(
      ({ peer: holder, layers: [from, to] }) => holder === peer && from <= layer && layer < to,
    )
  let moved = 0
  for (const { peer, layers } of stagesOf(after))
    for (let layer = layers[0]; layer < layers[1]; layer++)
      if (!holds(peer, layer)) moved += profile.layers[layer]!.parameterBytes
  return moved
}

interface Departure extends Case {
  readonly before: Layout
  readonly after: Replanned
}

/** One peer of the plan leaves, and the pool without it. Undefined where the model then has no place. */
function departure({ pool, profile }: Case, rng: Rng): Departure | undefined {
  const before = planned({ pool, profile })
  if (before === undefined) return undefined
  const stages = stagesOf(before)
  const gone = stages[nextInt(rng, stages.length)]!.peer
  const left = {
    ...pool,
    peers: pool.peers.filter(({ id }) => id !== gone),
    links: pool.links.filter(({ between }) => !between.includes(gone)),
  }
  const after = replan({ pool: left, profile, seed: 1 }, clustersOf(before))
  return 'feasible' in after ? undefined : { pool: left, profile, before, after }
}

const kinds = [randomPool, typedPool, measuredPool]

/** Eight PCs: drawn by chance, in homes as typed in, or in homes as measured. */
function eightPeers(seed: number): Case {
  const rng = createRng(seed)
  const profile = randomProfile(rng, 6 + nextInt(rng, 10))
  const modelBytes = profile.layers.reduce(
    (sum, { parameterBytes, workingBytesPerSample }) =>
      sum +
      parameterBytes * (1 + profile.stateFactor) +
      workingBytesPerSample * profile.microBatch * profile.inFlight,
    0,
  )
  return { pool: kinds[seed % kinds.length]!(rng, 8, modelBytes), profile }
}

const slow = { timeout: 600_000 }

/** More pools: `REPLAN_POOLS=300 npx vitest run test/core/planner/replan.test.ts`. */
const pools = Number(process.env['REPLAN_POOLS'] ?? 48)

describe('planning again after one of eight peers left', () => {
  const departures = Array.from({ length: pools }, (_, seed) =>
    departure(eightPeers(seed), createRng(1000 + seed)),
  ).filter((each) => each !== undefined)

  it('reaches at least 95 % of planning anew in every pool, and tells exactly what moves', slow, () => {
    expect(departures.length).toBeGreaterThan(0.8 * pools)
    for (const { pool, profile, before, after } of departures) {
      expect(after.bestSamplesPerSecond).toBe(planned({ pool, profile })?.samplesPerSecond)
      expect(after.layout.samplesPerSecond).toBeGreaterThanOrEqual(
        enoughOfBest * after.bestSamplesPerSecond * (1 - 1e-9),
      )
      expect(after.movedBytes).toBe(movedLayers(profile, before, after.layout))
      const all = stagesOf(after.layout).flatMap(({ layers: [from, to] }) => profile.layers.slice(from, to))
      expect(after.fullMoveBytes).toBe(all.reduce((sum, { parameterBytes }) => sum + parameterBytes, 0))
    }
  })

  it('moves at most 60 % of a full move where all eight trained, and mostly much less', () => {
    const shares = departures
      .filter(({ before }) => stagesOf(before).length === 8)
      .map(({ after }) => after.movedBytes / after.fullMoveBytes)
      .sort((a, b) => a - b)
    expect(shares.length).toBeGreaterThanOrEqual(3)
    expect(shares.filter((share) => share <= 0.6).length / shares.length).toBeGreaterThanOrEqual(0.9)
    expect(shares[Math.floor(shares.length / 2)]).toBeLessThan(0.3)
  })
})

describe('planning again', () => {
  it('moves as little as any plan of that rate can: every order, every cut', slow, () => {
    let compared = 0
    let equal = 0
    for (let seed = 0; seed < 120; seed++) {
      const found = departure(
        randomCase(seed, (rng) => ({ peers: 3 + nextInt(rng, 3), layers: 2 + nextInt(rng, 4) })),
        createRng(seed),
      )
      if (found === undefined) continue
      const { pool, profile, before, after } = found
      const plain = stagesOf(before).map(({ peer, layers: [from, to] }) => ({
        peer: pool.peers.findIndex(({ id }) => id === peer),
        ...{ from, to },
      }))
      const least = enoughOfBest * after.bestSamplesPerSecond
      const fewest = fewestMovedBytes(pool, profile, plain, least)
      expect(after.movedBytes).toBeGreaterThanOrEqual(fewest)
      compared++
      if (after.movedBytes === fewest) equal++
    }
    expect(compared).toBeGreaterThan(60)
    expect(equal / compared).toBeGreaterThanOrEqual(0.98)
  })

  it('leaves a plan alone that is still nearly the best', () => {
    const { pool, profile } = randomCase(3, () => ({ peers: 5, layers: 6 }))
    const before = planned({ pool, profile })!
    const slower = {
      ...pool,
      peers: pool.peers.map((peer, place) => ({
        ...peer,
        flopsPerSecond: (0.99 - 0.004 * place) * peer.flopsPerSecond,
      })),
    }
    const answer = replan({ pool: slower, profile, seed: 1 }, clustersOf(before)) as Replanned
    expect(answer.movedBytes).toBe(0)
    expect(stagesOf(answer.layout).map(({ peer, layers }) => [peer, layers])).toEqual(
      stagesOf(before).map(({ peer, layers }) => [peer, layers]),
    )
  })

  it('reaches 95 % at the codecs that the borders get, too', slow, () => {
    for (let seed = 0; seed < 5; seed++) {
      const { pool, profile } = eightPeers(seed)
      const found = departure({ pool, profile: { ...profile, codec: 'auto' } }, createRng(seed))
      if (found === undefined) continue
      const { layout, bestSamplesPerSecond } = found.after
      expect(layout.samplesPerSecond).toBeGreaterThanOrEqual(enoughOfBest * bestSamplesPerSecond * (1 - 1e-9))
    }
  })

  it('keeps the number of clusters that was asked for', () => {
    const { pool, profile } = randomCase(7, () => ({ peers: 7, layers: 8 }))
    const before = planPool({ pool, profile, seed: 1, clusters: 2 }) as Layout
    const answer = replan({ pool, profile, seed: 1, clusters: 1 }, clustersOf(before)) as Replanned
    expect(answer.layout.clusters.length).toBe(1)
  })

  it('gives the same plan for the same seed', () => {
    const once = () => departure(eightPeers(4), createRng(4))?.after.layout
    expect(once()).toBeDefined()
    expect(once()).toEqual(once())
  })

  it.each([
    [[[0, 9]], /not of a model with 6 layers; plan without it/],
    [
      [
        [0, 2],
        [3, 6],
      ],
      /cluster 1 of the previous plan does not hold each layer once/,
    ],
    [
      [
        [0, 4],
        [2, 6],
      ],
      /cluster 1 of the previous plan does not hold each layer once/,
    ],
  ] as const)('refuses what is no plan of the model (%#)', (runs, sentence) => {
    const { pool, profile } = randomCase(3, () => ({ peers: 5, layers: 6 }))
    const previous = [runs.map(([from, to], index) => ({ peer: `pc-${index}`, layers: [from, to] as const }))]
    const refused = () => replan({ pool, profile, seed: 1 }, previous)
    expect(refused).toThrow(InvalidInputError)
    expect(refused).toThrow(sentence)
  })

  it('refuses a plan with two stages on one PC', () => {
    const { pool, profile } = randomCase(3, () => ({ peers: 5, layers: 6 }))
    const whole = [{ peer: 'pc-0', layers: [0, 6] as const }]
    expect(() => replan({ pool, profile, seed: 1 }, [whole, whole])).toThrow(/two stages on "pc-0"/)
  })
})
