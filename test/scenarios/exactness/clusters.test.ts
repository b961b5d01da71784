import { describe, expect, it } from 'vitest'
import { openEngines } from './engines.ts'
import { type CutModel, convolutional, transformer } from './models.ts'
import { type Numbers, differences, layoutOf } from './numbers.ts'
import { type Pool, adamw, createPool, momentum, simulated } from './pool.ts'

const schedule = { accumulate: 2, inFlight: 3, staleness: 'predict', seed: 6 } as const

const finalRounds = ({ clock, members }: Pool) =>
  clock.runUntil(Promise.all(members.map(({ averaging }) => averaging.finalRound())))

const trainedNames = ({ settings }: Pool) => layoutOf(settings.graph).trained.map(({ name }) => name)

/** Bytes of all numbers of a ring, running statistics too. */
const bytesOf = ({ rings, settings }: Pool, ring: number) =>
  4 * rings[ring]!.layers.reduce((sum, layers) => sum + layoutOf(settings.graph, layers).length, 0)

describe.each(['wasm', 'kernels'] as const)('clusters that are cut unlike on %s', (name) => {
  const opened = openEngines(name, 6)

  const poolOf = (
    { graph, cuts }: CutModel,
    more: { stages: readonly (1 | 2 | 3)[]; averageEvery?: number },
  ) => {
    const { stages, ...rest } = more
    const places = stages.map((count) => (count === 1 ? [] : cuts[count]))
    const optimizer = graph === transformer.graph ? adamw : momentum
    return createPool(opened.engines, { ...schedule, ...rest, graph, cuts: places, optimizer, targetUpdates: 11 }) // prettier-ignore
  }

  it.each([
    ['convolutions and batch norm', convolutional, [2, 3]],
    ['embeddings, layer norm and attention', transformer, [2, 3]],
    ['convolutions and batch norm, a third cluster of one stage', convolutional, [2, 3, 1]],
  ] as const)('average while they train and end with the same bits: %s', async (_what, model, stages) => {
    const pool = await poolOf(model, { stages, averageEvery: 3 })
    pool.start()
    await pool.train()
    const apart = differences(await pool.numbers(0), await pool.numbers(1))
    expect(apart).toEqual(expect.arrayContaining(trainedNames(pool)))
    expect(new Set(await finalRounds(pool))).toEqual(new Set(['averaged']))
    const [first, ...others] = await Promise.all(stages.map((_, cluster) => pool.numbers(cluster)))
    for (const numbers of others) expect(differences(numbers, first!)).toEqual([])
    for (const { rounds, refused } of pool.members) {
      expect(new Set(rounds.map(({ outcome }) => outcome))).toEqual(new Set(['averaged']))
      expect(rounds.length).toBeGreaterThan(2)
      expect(refused).toEqual([])
    }
    expectRingBytes(pool)
  })

  // The oracle computes with TensorFlow.js: its bits are those of its own backend.
  it.runIf(name === 'wasm')(
    'end with the mean of what each had learned, running statistics too, to the last bit',
    async () => {
      const pool = await poolOf(convolutional, { stages: [2, 3] })
      pool.start()
      await pool.train()
      const weights = pool.roots.map((root) => root.stats().samples)
      const [one, other] = [await simulated(pool, 0), await simulated(pool, 1)]
      await finalRounds(pool)
      const mean = weightedMean([one, other], weights)
      for (const cluster of [0, 1]) expect(differences(await pool.numbers(cluster), mean)).toEqual([])
    },
  )
})

/** A round costs each of C members 2(C−1)/C of the ring's bytes, so all together 2(C−1) times them. */
function expectRingBytes(pool: Pool): void {
  const clusters = pool.settings.cuts.length
  const sent = pool.members.map(({ peer }) => pool.network.linksOf(peer).sentBytes().parameters)
  const share = (2 * (clusters - 1)) / clusters
  const wanted = pool.members.map(({ rounds }) => rounds.reduce((sum, { ring }) => sum + share * bytesOf(pool, ring), 0)) // prettier-ignore
  const total = (bytes: readonly number[]) => bytes.reduce((sum, one) => sum + one)
  expect(total(sent)).toBe(Math.round(total(wanted)))
  // Two members halve a ring's numbers: whatever the halves are, both are sent once.
  if (clusters === 2) expect(sent).toEqual(wanted)
}

/** (w₁x₁ + w₂x₂) / (w₁ + w₂), each operation in float32. */
function weightedMean([one, other]: readonly [Numbers, Numbers], weights: readonly number[]): Numbers {
  const f = Math.fround
  const [w, v] = weights as [number, number]
  return new Map([...one].map(([name, xs]) => [name, xs.map((x, at) => f(f(f(x * w) + f(other.get(name)![at]! * v)) / (w + v)))])) // prettier-ignore
}
