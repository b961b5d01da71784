import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutIntoChunks } from '../../../main/core/averaging/chunks.ts'
import { elementsSent, ringSteps } from '../../../main/core/averaging/ring-steps.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import { normGraph, plainGraph, ringsOf } from '../pipeline/pool.ts'
import { type Bench, createBench } from './ring-bench.ts'

/** 1 to 7 clusters, each cut anywhere into up to 4 stages. */
const anyCuts = fc.array(
  fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }).map((cuts) => cuts.sort((a, b) => a - b)),
  { minLength: 1, maxLength: 7 },
)
const unlike = [[], [3], [2, 5]]

const allNumbers = (bench: Bench) =>
  bench.clock.runUntil(
    Promise.all(Array.from({ length: clusters(bench) }, (_, cluster) => bench.numbers(cluster))),
  )
const clusters = ({ members }: Bench) => Math.max(...members.map(({ cluster }) => cluster)) + 1

function weightedMean(numbers: readonly number[][], weights: readonly number[]): number[] {
  const total = weights.reduce((a, b) => a + b)
  return numbers[0]!.map((_, at) =>
    Math.fround(numbers.reduce((sum, own, cluster) => sum + own[at]! * weights[cluster]!, 0) / total),
  )
}

/** Bytes that a member sends in one round of all its rings. */
function roundBytes(cuts: readonly (readonly number[])[], peer: string): number {
  const layouts = layoutOfGraph(plainGraph)
  const elements = ringsOf(cuts).map(({ layers, members }) => {
    if (!members.includes(peer)) return 0
    const length = layers.reduce((sum, range) => sum + stateLayout(layouts, range).length, 0)
    return elementsSent(
      ringSteps(members.indexOf(peer), members.length),
      cutIntoChunks(length, members.length),
    )
  })
  return 4 * elements.reduce((a, b) => a + b, 0)
}

describe('clusters that average', () => {
  it('all end with the plain mean and the same bits, however many and however cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyCuts,
        fc.nat(),
        fc.integer({ min: 3, max: 90 }),
        async (cuts, seed, pieceElements) => {
          const bench = await createBench({ cuts, seed, linkMs: 30, pieceElements })
          const before = await allNumbers(bench)
          const outcomes = await bench.finish()
          expect(new Set(outcomes)).toEqual(new Set(['averaged']))
          const expected = weightedMean(
            before,
            before.map(() => 1),
          )
          for (const numbers of await allNumbers(bench)) expect(numbers).toEqual(expected)
          expect(bench.members.flatMap(({ refused }) => refused)).toEqual([])
        },
      ),
      { numRuns: 25 },
    )
  })

  it('send exactly the bytes that the ring formula says', async () => {
    await fc.assert(
      fc.asyncProperty(anyCuts, fc.integer({ min: 3, max: 90 }), async (cuts, pieceElements) => {
        const bench = await createBench({ cuts, pieceElements })
        await bench.finish()
        for (const { peer, averaging } of bench.members) {
          expect(averaging.stats().chunkBytes).toBe(roundBytes(cuts, peer))
          expect(bench.network.linksOf(peer).sentBytes().parameters).toBe(roundBytes(cuts, peer))
        }
      }),
      { numRuns: 20 },
    )
  })

  it('weigh by the samples trained since the last round, and conserve the weighted sum', async () => {
    const bench = await createBench({ cuts: unlike, averageEvery: 2 })
    const updates = [2, 3, 5]
    const before = await allNumbers(bench)
    for (const member of bench.members.filter(({ cluster }) => cluster > 0))
      member.made(updates[member.cluster]!)
    await bench.clock.settle()
    expect(bench.members.flatMap(({ rounds }) => rounds)).toEqual([])
    bench.holders(0)[0]!.made(2)
    await bench.clock.settle()
    const expected = weightedMean(before, updates)
    const after = await allNumbers(bench)
    for (const numbers of after) expect(numbers).toEqual(expected)
    // The next round counts only what came after the copies of this one.
    for (const { engine, layers, cluster } of bench.members) {
      const { values } = await engine.readState(layers)
      await engine.writeState({ layers, values: values.map(() => 8 * cluster) })
    }
    for (const member of bench.members) member.made(member.cluster === 1 ? 6 : 2)
    await bench.clock.settle()
    for (const numbers of await allNumbers(bench)) expect(new Set(numbers)).toEqual(new Set([8]))
  })

  it('say and do nothing when there is one cluster', async () => {
    const bench = await createBench({ cuts: [[3]], averageEvery: 1 })
    const before = await allNumbers(bench)
    for (const member of bench.members) member.made(9)
    expect(bench.members.map(({ averaging }) => averaging.gate())).toEqual([undefined, undefined])
    expect(await bench.finish()).toEqual(['averaged', 'averaged'])
    expect([await allNumbers(bench), bench.seen]).toEqual([before, []])
  })
})

describe('a stage that trains on during a round', () => {
  it('keeps the updates that it made meanwhile, and its own running statistics', async () => {
    const bench = await createBench({ cuts: [[], []], graph: normGraph, averageEvery: 1, linkMs: 10 })
    const [one, other] = bench.members
    const before = await allNumbers(bench)
    const layouts = layoutOfGraph(normGraph)
    const { length, trainedLength } = stateLayout(layouts, [0, 7])
    other!.made(1)
    one!.made(1)
    await bench.clock.advance(10) // both have copied, chunks are under way
    const moved = new Float32Array(length).fill(64)
    one!.progress.stateVersion += 1
    await one!.engine.addToState({ layers: [0, 7], values: moved })
    await bench.clock.advance(500)
    expect(one!.rounds.map(({ outcome }) => outcome)).toEqual(['averaged'])
    const mean = weightedMean(before, [1, 1])
    const after = await allNumbers(bench)
    const trained = perLayerTrained()
    expect(trained.filter(Boolean)).toHaveLength(trainedLength)
    expect(after[1]).toEqual(mean)
    expect(after[0]).toEqual(mean.map((value, at) => (trained[at]! ? value : before[0]![at]!) + 64))
  })
})

/** Of every number of the model in layer order: whether it is trained. */
function perLayerTrained(): boolean[] {
  const layouts = layoutOfGraph(normGraph)
  return layouts.flatMap((_, layer) => {
    const { length, trainedLength } = stateLayout(layouts, [layer, layer + 1])
    return Array.from({ length }, (__, at) => at < trainedLength)
  })
}

describe('the gate of averaging', () => {
  it('is open until H updates after a stage was ready, and then calls the others in', async () => {
    const bench = await createBench({ cuts: [[], []], averageEvery: 3 })
    const [fast, slow] = bench.members
    slow!.made(1)
    fast!.made(5)
    await bench.clock.settle()
    expect(fast!.averaging.gate()).toBeUndefined()
    expect(fast!.averaging.stats().waitingFor).toBe('waiting for c1s0 to be ready to average')
    fast!.made(1)
    await bench.clock.settle()
    expect(fast!.rounds).toEqual([])
    const gate = fast!.averaging.gate()
    expect(gate).toBeInstanceOf(Promise)
    await bench.clock.runUntil(gate!)
    expect([fast!.rounds.length, slow!.rounds.length]).toEqual([1, 1])
    expect(fast!.averaging.gate()).toBeUndefined()
  })

  it('is closed after H updates while a round still runs, and opens when it ends', async () => {
    const bench = await createBench({ cuts: [[], []], averageEvery: 2, linkMs: 1000 })
    const [one, other] = bench.members
    other!.made(2)
    await bench.clock.advance(1000)
    one!.made(2) // its copy is taken here
    one!.made(1)
    expect(one!.averaging.gate()).toBeUndefined()
    one!.made(1)
    const gate = one!.averaging.gate()
    expect(gate).toBeInstanceOf(Promise)
    await bench.clock.runUntil(gate!)
    expect(one!.rounds).toHaveLength(1)
    expect(other!.averaging.gate()).toBeUndefined()
  })

  it('does not hold one ring up for another', async () => {
    const bench = await createBench({ cuts: [[3], [3], [3]], averageEvery: 2 })
    for (const member of bench.members.filter(({ layers }) => layers[0] === 0)) member.made(2)
    await bench.clock.settle()
    expect(bench.members.map(({ rounds }) => rounds.length)).toEqual([1, 0, 1, 0, 1, 0])
  })
})

describe('a round with a deadline', () => {
  it('begins then, however few updates somebody made', async () => {
    const bench = await createBench({ cuts: [[], []], averageEvery: 100, deadlineMs: 5000 })
    const [fast, slow] = bench.members
    slow!.made(1)
    fast!.made(100)
    await bench.clock.advance(4999)
    expect(fast!.rounds).toEqual([])
    await bench.clock.advance(1)
    expect([fast!.rounds.length, slow!.rounds.length]).toEqual([1, 1])
  })
})

describe('the last round', () => {
  it('comes after every round that somebody still calls for, in which the drained take part', async () => {
    const bench = await createBench({ cuts: [[], [3]], averageEvery: 2, linkMs: 20 })
    const [drained, ...others] = bench.members
    drained!.made(1)
    const last = drained!.averaging.finalRound()
    for (const member of others) member.made(2)
    await bench.clock.advance(500)
    for (const member of others) member.made(2)
    await bench.clock.advance(500)
    expect(others.map(({ rounds }) => rounds.length)).toEqual([2, 2])
    await bench.finish()
    expect(await last).toBe('averaged')
    const [one, other] = await allNumbers(bench)
    expect(one).toEqual(other)
    expect(others.map(({ rounds }) => rounds.length)).toEqual([3, 3])
  })

  it('needs everybody', async () => {
    const bench = await createBench({ cuts: [[], []] })
    void bench.members[0]!.averaging.finalRound()
    await bench.clock.settle()
    expect(bench.members.map(({ rounds }) => rounds)).toEqual([[], []])
  })
})
