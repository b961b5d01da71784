import { describe, expect, it } from 'vitest'
import type { MemberRing } from '../../../main/core/averaging/settings.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { BadMessageError, InvariantError } from '../../../shared/errors.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import { job, ringsOf } from '../pipeline/pool.ts'
import { type Bench, type BenchMember, createBench } from './ring-bench.ts'

const numbersOf = (bench: Bench, count: number) =>
  bench.clock.runUntil(Promise.all(Array.from({ length: count }, (_, cluster) => bench.numbers(cluster))))

const outcomes = ({ rounds }: BenchMember) => rounds.map(({ outcome }) => outcome)

/** Three clusters of one stage in the middle of a round: all have copied, chunks are under way. */
async function midRound(): Promise<Bench> {
  const bench = await createBench({ cuts: [[], [], []], averageEvery: 2, linkMs: 100 })
  for (const member of bench.members) member.made(2)
  await bench.clock.advance(150)
  expect(bench.seen.some(({ message }) => message.header.type === 'chunk')).toBe(true)
  return bench
}

describe('a round that is given up', () => {
  it('leaves the values of every member untouched, and the next round is a round like any other', async () => {
    const bench = await midRound()
    const before = await numbersOf(bench, 3)
    bench.members[1]!.averaging.abandon('the weather')
    await bench.clock.advance(1000)
    expect(bench.members.map(outcomes)).toEqual(new Array(3).fill(['abandoned']))
    expect(bench.members[0]!.rounds[0]!.reason).toBe('the weather')
    expect(await numbersOf(bench, 3)).toEqual(before)
    for (const member of bench.members) member.made(2)
    await bench.clock.advance(1000)
    expect(bench.members.map(outcomes)).toEqual(new Array(3).fill(['abandoned', 'averaged']))
    const after = await numbersOf(bench, 3)
    expect(after[1]).toEqual(after[0])
    expect(after[2]).toEqual(after[0])
    expect(bench.members.flatMap(({ refused }) => refused)).toEqual([])
  })

  it('weighs the samples of the lost round in the next', async () => {
    const bench = await createBench({ cuts: [[], []], averageEvery: 2 })
    const [one, other] = bench.members
    const before = await numbersOf(bench, 2)
    one!.made(2)
    await bench.clock.settle()
    one!.averaging.abandon('changed my mind')
    one!.made(1)
    other!.made(1)
    await bench.finish()
    const [after] = await numbersOf(bench, 2)
    expect(after).toEqual(before[0]!.map((value, at) => Math.fround((3 * value + before[1]![at]!) / 4)))
  })

  it('opens the gate of whoever waited for it', async () => {
    const bench = await midRound()
    const [one, two] = bench.members
    one!.made(2)
    const gate = one!.averaging.gate()!
    two!.averaging.abandon('lost a peer')
    await bench.clock.runUntil(gate)
    expect(outcomes(one!)).toEqual(['abandoned'])
  })

  it('is given up by all when one is gone, and nobody waits for the last round in vain', async () => {
    const bench = await createBench({ cuts: [[], [], []], linkMs: 100 })
    const before = await numbersOf(bench, 3)
    const ends = bench.members.map(({ averaging }) => averaging.finalRound())
    await bench.clock.advance(150)
    await bench.clock.runUntil(bench.network.sever('c2s0'))
    bench.members[0]!.averaging.abandon('c2s0 is gone')
    expect(await bench.clock.runUntil(Promise.all(ends.slice(0, 2)))).toEqual(['abandoned', 'abandoned'])
    expect(await bench.members[0]!.averaging.finalRound()).toBe('abandoned')
    expect((await numbersOf(bench, 3)).slice(0, 2)).toEqual(before.slice(0, 2))
  })

  it('is given up when the next member cannot be reached', async () => {
    const bench = await midRound()
    await bench.clock.runUntil(bench.network.sever('c1s0'))
    await bench.clock.advance(1000)
    expect(outcomes(bench.members[0]!)).toEqual(['abandoned'])
    expect(outcomes(bench.members[2]!)).toEqual(['abandoned'])
  })

  it('is given up by a member whose own numbers are broken, before it spreads them', async () => {
    const bench = await createBench({ cuts: [[], []], averageEvery: 2 })
    const [one, other] = bench.members
    const { values } = await other!.engine.readState([0, 1])
    await other!.engine.writeState({ layers: [0, 1], values: values.fill(Infinity) })
    const before = await numbersOf(bench, 2)
    for (const member of bench.members) member.made(2)
    await bench.clock.settle()
    expect(outcomes(one!)).toEqual(['abandoned'])
    expect(one!.rounds[0]!.reason).toMatch(/no finite number/)
    expect(await numbersOf(bench, 2)).toEqual(before)
  })

  it('is given up when the engine fails, and its owner hears of it', async () => {
    const bench = await createBench({ cuts: [[], []] })
    const [one, other] = bench.members
    other!.engine.readState = () => Promise.reject(new InvariantError('out of order'))
    expect(await bench.finish()).toEqual(['abandoned', 'abandoned'])
    expect(other!.faults).toEqual([new InvariantError('out of order')])
    expect(one!.faults).toEqual([])
  })
})

/** The rings of a plan in which only these clusters train. */
function ringsWith(bench: Bench, active: readonly number[], peer: string): MemberRing[] {
  const rings = ringsOf(active.map(() => []))
  return rings
    .map((plan, index) => ({ index, plan: { ...plan, members: active.map((cluster) => `c${cluster}s0`) } }))
    .filter(({ plan }) => plan.members.includes(peer) && bench.members.length > 0)
}

describe('a new plan', () => {
  it('ends the round that ran and averages in the new rings, also when one member hears of it late', async () => {
    const bench = await midRound()
    await bench.clock.runUntil(bench.network.sever('c1s0'))
    const before = await numbersOf(bench, 3)
    const [one, , three] = bench.members
    one!.averaging.replan({ planNumber: 2, rings: ringsWith(bench, [0, 2], 'c0s0') })
    one!.made(4)
    expect(one!.averaging.gate()).toBeInstanceOf(Promise)
    await bench.clock.advance(500) // its "ready" reaches one that still has the old plan
    three!.averaging.replan({ planNumber: 2, rings: ringsWith(bench, [0, 2], 'c2s0') })
    await bench.clock.advance(1000)
    expect([one, three].map((member) => outcomes(member!).at(-1))).toEqual(['averaged', 'averaged'])
    const after = await numbersOf(bench, 3)
    expect(after[0]).toEqual(
      before[0]!.map((value, at) => Math.fround((60 * value + 20 * before[2]![at]!) / 80)),
    )
    expect(after[2]).toEqual(after[0])
    expect(three!.refused).toEqual([])
  })

  it('without other members ends averaging', async () => {
    const bench = await midRound()
    const [one] = bench.members
    one!.averaging.replan({ planNumber: 2, rings: ringsWith(bench, [0], 'c0s0') })
    one!.made(50)
    expect(one!.averaging.gate()).toBeUndefined()
    expect(await one!.averaging.finalRound()).toBe('averaged')
  })
})

const address = { job, plan: 1, ring: 0, round: 1 }
/** The first chunk that c0s0 gets from c2s0: chunk 2 of 186 numbers in three. */
const chunk = (changed: Partial<Header<'chunk'>> = {}, values = new Float32Array(62)): WireMessage => ({
  header: { type: 'chunk', ...address, phase: 'reduce', step: 0, offset: 0, weight: 20, ...changed },
  tensors: [floatTensor(values)],
})
const twoTensors = { ...chunk(), tensors: [...chunk().tensors, ...chunk().tensors] }
const wholeNumbers = {
  ...chunk(),
  tensors: [{ dtype: 'int32' as const, shape: [62], data: new Int32Array(62) }],
}

const refusals: readonly (readonly [what: string, from: string, message: WireMessage])[] = [
  ['a chunk from a member that is not before it', 'c1s0', chunk()],
  ['a chunk from a peer outside the ring', 'stranger', chunk()],
  ['a chunk from itself', 'c0s0', chunk()],
  ['a chunk of a ring it is not in', 'c2s0', chunk({ ring: 1 })],
  ['a chunk of another job', 'c2s0', chunk({ job: '8'.repeat(64) })],
  ['a chunk of a later round', 'c2s0', chunk({ round: 2 })],
  ['a chunk of the last round before it drained', 'c2s0', chunk({ round: Number.MAX_SAFE_INTEGER })],
  ['a chunk out of order', 'c2s0', chunk({ step: 1 })],
  ['a chunk that begins elsewhere', 'c2s0', chunk({ offset: 1 })],
  ['a chunk of the wrong phase', 'c2s0', chunk({ phase: 'gather' })],
  ['a chunk too short', 'c2s0', chunk({}, new Float32Array(61))],
  ['a chunk too long', 'c2s0', chunk({}, new Float32Array(63))],
  ['a chunk with a value that is no number', 'c2s0', chunk({}, new Float32Array(62).fill(NaN))],
  ['a chunk in two tensors', 'c2s0', twoTensors],
  ['a chunk of whole numbers', 'c2s0', wholeNumbers],
  ['a message of another room', 'c2s0', { header: { type: 'hold', job, plan: 1 }, tensors: [] }],
]

describe('a ring member', () => {
  it.each(refusals)(
    'refuses %s, and the round comes out as if it had not come',
    async (_what, from, message) => {
      const bench = await createBench({ cuts: [[], [], []], averageEvery: 2 })
      const [one, ...others] = bench.members
      one!.made(2)
      expect(() => {
        one!.averaging.deliver(from, message)
      }).toThrow(BadMessageError)
      const before = await numbersOf(bench, 3)
      for (const member of others) member.made(2)
      await bench.clock.settle()
      const after = await numbersOf(bench, 3)
      const mean = before[0]!.map((value, at) => Math.fround((value + before[1]![at]! + before[2]![at]!) / 3))
      expect(after).toEqual([mean, mean, mean])
    },
  )

  it('refuses a chunk before it is ready, and ignores what is of an old plan or round', async () => {
    const bench = await createBench({ cuts: [[], [], []], averageEvery: 2 })
    const [one] = bench.members
    expect(() => {
      one!.averaging.deliver('c2s0', chunk())
    }).toThrow(/not ready/)
    for (const member of bench.members) member.made(2)
    await bench.clock.settle()
    const before = await numbersOf(bench, 3)
    one!.averaging.deliver('c2s0', chunk())
    one!.averaging.deliver('c2s0', chunk({ plan: 0 }))
    one!.averaging.deliver('c2s0', {
      header: { type: 'round-abandoned', ...address, reason: 'old' },
      tensors: [],
    })
    await bench.clock.settle()
    expect(outcomes(one!)).toEqual(['averaged'])
    expect(await numbersOf(bench, 3)).toEqual(before)
  })
})
