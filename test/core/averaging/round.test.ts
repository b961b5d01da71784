import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Packet, type Parcel, averageRound } from '../../../main/core/averaging/round.ts'
import { createRng, nextInt, seedFrom } from '../../../shared/random.ts'

/** Run one round among all members at once; every packet is late by a drawn number of turns. */
async function meanOf(
  copies: readonly Float32Array[],
  weights: readonly number[],
  { seed = 0, pieceElements = 4 }: { seed?: number; pieceElements?: number } = {},
) {
  const rng = createRng(seed)
  const queues = copies.map((): Promise<Packet>[] => [])
  const wakers = copies.map((): (() => void)[] => [])
  const late = async (packet: Packet) => {
    for (let turn = nextInt(rng, 6); turn > 0; turn--) await Promise.resolve()
    return packet
  }
  const receive = async (position: number): Promise<Packet> => {
    if (queues[position]!.length === 0) await new Promise<void>((resolve) => wakers[position]!.push(resolve))
    return queues[position]!.shift()!
  }
  return Promise.all(
    copies.map((copy, position) =>
      averageRound({
        ...{ position, members: copies.length, copy, weight: weights[position]!, pieceElements },
        receive: () => receive(position),
        send: ({ weight, values }) => {
          const next = (position + 1) % copies.length
          queues[next]!.push(late({ weight, values: values.slice() }))
          wakers[next]!.shift()?.()
          return Promise.resolve()
        },
      }),
    ),
  )
}

const bits = (values: Float32Array) => [...new Uint32Array(values.buffer, values.byteOffset, values.length)]

const rings = fc.record({
  seed: fc.nat(),
  members: fc.integer({ min: 1, max: 7 }),
  length: fc.nat({ max: 40 }),
  pieceElements: fc.integer({ min: 1, max: 9 }),
})

function drawn(
  seed: number,
  members: number,
  length: number,
  of: (rng: ReturnType<typeof createRng>) => number,
) {
  const rng = createRng(seedFrom(seed, 'values'))
  return Array.from({ length: members }, () => Float32Array.from({ length }, () => of(rng)))
}

describe('a round', () => {
  it('gives the weighted mean, exactly for whole numbers, with any weights and any lateness', async () => {
    await fc.assert(
      fc.asyncProperty(rings, async ({ seed, members, length, pieceElements }) => {
        const copies = drawn(seed, members, length, (rng) => nextInt(rng, 2001) - 1000)
        const rng = createRng(seedFrom(seed, 'weights'))
        const weights = copies.map(() => nextInt(rng, 50))
        const total = weights.reduce((a, b) => a + b)
        const counted = total > 0 ? weights : copies.map(() => 1)
        const expected = Float32Array.from(
          { length },
          (_, at) =>
            copies.reduce((sum, copy, index) => sum + copy[at]! * counted[index]!, 0) /
            counted.reduce((a, b) => a + b),
        )
        for (const mean of await meanOf(copies, weights, { seed, pieceElements }))
          expect([...mean].map((value) => value + 0)).toEqual([...expected].map((value) => value + 0))
      }),
    )
  })

  it('ends with the same bits on all members, for any floats', async () => {
    await fc.assert(
      fc.asyncProperty(rings, async ({ seed, members, length, pieceElements }) => {
        const copies = drawn(seed, members, length, (rng) => (rng.next() - 0.5) * 10 ** nextInt(rng, 9))
        const [first, ...others] = await meanOf(
          copies,
          copies.map((_, index) => 7 * index + 3),
          { seed, pieceElements },
        )
        for (const other of others) expect(bits(other)).toEqual(bits(first!))
        const naive = Array.from({ length }, (_, at) =>
          copies.reduce((sum, copy) => sum + Math.abs(copy[at]!), 0),
        )
        const weights = copies.map((_, index) => 7 * index + 3)
        const total = weights.reduce((a, b) => a + b)
        first!.forEach((value, at) => {
          const exact = copies.reduce((sum, copy, index) => sum + copy[at]! * weights[index]!, 0) / total
          expect(Math.abs(value - exact)).toBeLessThanOrEqual((members + 2) * 2 ** -23 * naive[at]!)
        })
      }),
    )
  })

  it('leaves out who did not train, and takes the plain mean when nobody did', async () => {
    const copies = [
      [1, 2, 3],
      [3, 6, 9],
      [100, 100, 100],
    ].map((values) => Float32Array.from(values))
    const mean = async (weights: number[]) => (await meanOf(copies, weights)).map((values) => [...values])
    expect(await mean([1, 1, 0])).toEqual(new Array(3).fill([2, 4, 6]))
    expect(await mean([0, 8, 0])).toEqual(new Array(3).fill([3, 6, 9]))
    expect(await mean([0, 0, 0])).toEqual(
      new Array(3).fill([104, 108, 112].map((sum) => Math.fround(sum / 3))),
    )
  })

  it('sends a piece on as soon as it was added to, while the rest of its chunk still comes in', async () => {
    const copy = Float32Array.from({ length: 12 }, (_, at) => at)
    const sent: Parcel[] = []
    const arrivals = Array.from({ length: 8 }, () => Promise.withResolvers<Packet>())
    let received = 0
    const round = averageRound({
      ...{ position: 0, members: 3, copy, weight: 1, pieceElements: 2 },
      send: (parcel) => Promise.resolve(void sent.push(parcel)),
      receive: () => arrivals[received++]!.promise,
    })
    const arrive = async (index: number, values: number[]) => {
      arrivals[index]!.resolve({ weight: 2, values: Float32Array.from(values) })
      await new Promise(setImmediate)
      return sent.splice(0).map(({ step, offset, weight, values: sums }) => ({
        ...{ phase: step.phase, step: step.step, offset, weight },
        sums: [...sums],
      }))
    }
    expect(await arrive(0, [10, 20])).toEqual([
      { phase: 'reduce', step: 0, offset: 0, weight: 1, sums: [0, 1] },
      { phase: 'reduce', step: 0, offset: 2, weight: 1, sums: [2, 3] },
      { phase: 'reduce', step: 1, offset: 0, weight: 3, sums: [18, 29] },
    ])
    expect(await arrive(1, [30, 40])).toEqual([
      { phase: 'reduce', step: 1, offset: 2, weight: 3, sums: [40, 51] },
    ])
    expect(await arrive(2, [5, 6])).toEqual([
      { phase: 'gather', step: 0, offset: 0, weight: 3, sums: [3, Math.fround(11 / 3)] },
    ])
    await arrive(3, [4, 5])
    expect(await arrive(4, [7, 8])).toEqual([
      { phase: 'gather', step: 1, offset: 0, weight: 2, sums: [7, 8] },
    ])
    await arrive(5, [9, 9])
    expect([await arrive(6, [1, 2]), await arrive(7, [3, 4])]).toEqual([[], []])
    expect([...(await round)]).toEqual([
      7,
      8,
      9,
      9,
      3,
      Math.fround(11 / 3),
      Math.fround(10 / 3),
      4,
      1,
      2,
      3,
      4,
    ])
  })

  it('changes no copy', async () => {
    const copies = drawn(1, 3, 10, (rng) => rng.next())
    const before = copies.map((copy) => [...copy])
    await meanOf(copies, [1, 2, 3])
    expect(copies.map((copy) => [...copy])).toEqual(before)
  })
})
