import { describe, expect, it } from 'vitest'
import { Arrivals } from '../../../main/core/averaging/arrivals.ts'
import { type Bench, createBench } from './ring-bench.ts'

const lateAfter = (...seenMs: number[]) => {
  const arrivals = new Arrivals()
  for (const ms of seenMs) arrivals.see(ms)
  return arrivals.lateAfterMs
}

describe('what usually takes some time', () => {
  it('is late after the median and six times the median deviation from it', () => {
    expect(lateAfter(5000, 7000, 6000, 8000, 90_000)).toBe(7000 + 6 * 1000)
  })

  it('is never late before five of its kind were seen', () => {
    expect(lateAfter(5000, 7000, 6000, 8000)).toBeUndefined()
  })

  it('may vary by an eighth where it never did, and by a second in any case', () => {
    expect(lateAfter(8000, 8000, 8000, 8000, 8000)).toBe(14_000)
    expect(lateAfter(1, 2, 3, 4, 5)).toBe(1000)
  })

  it('is judged by the newest thirty-two', () => {
    expect(lateAfter(...new Array<number>(40).fill(1e6), ...new Array<number>(32).fill(8000))).toBe(14_000)
  })
})

/** Rounds as usual, in each of which the first waits for the others. */
async function usualRounds(clusters: number): Promise<Bench> {
  const bench = await createBench({
    cuts: new Array<number[]>(clusters).fill([]),
    averageEvery: 2,
    linkMs: 10,
  })
  for (let round = 0; round < 6; round++) {
    bench.members[0]!.made(4)
    const gate = bench.members[0]!.averaging.gate()!
    await bench.clock.runUntil(gate)
    await bench.clock.advance(1000)
  }
  expect(bench.members.map(({ rounds }) => rounds.length)).toEqual(new Array(clusters).fill(6))
  return bench
}

const frozen = 'c1s0'
/** So long the gate stays closed from now. */
async function closedFor({ members, clock }: Bench): Promise<number> {
  const closedAtMs = clock.now()
  await clock.runUntil(members[0]!.averaging.gate()!)
  return clock.now() - closedAtMs
}

describe('a member that is frozen', () => {
  it('stops the others no longer than what is usual, and its numbers count when it is back', async () => {
    const bench = await usualRounds(3)
    const { members, network, clock } = bench
    network.hinder(frozen, { frozenUntilMs: clock.now() + 30_000 })
    members[0]!.made(4)
    expect(await closedFor(bench)).toBe(1000)
    members[0]!.made(2)
    // H more, and it waits again.
    expect(await closedFor(bench)).toBeLessThan(30_000)
    const before = await Promise.all([0, 1, 2].map((cluster) => bench.numbers(cluster)))
    await clock.advance(40_000)
    expect(members.map(({ rounds }) => rounds.at(-1)?.outcome)).toEqual(new Array(3).fill('averaged'))
    // Six updates of the first since the last round, none of the others.
    expect(await Promise.all([0, 1, 2].map((cluster) => bench.numbers(cluster)))).toEqual(
      new Array(3).fill(before[0]),
    )
  })

  it('stops the others no longer in the middle of a round', async () => {
    const bench = await usualRounds(2)
    const { members, network, clock } = bench
    for (const member of members) member.made(2)
    await clock.advance(10)
    network.hinder(frozen, { frozenUntilMs: clock.now() + 30_000 })
    members[0]!.made(2)
    expect(await closedFor(bench)).toBeLessThanOrEqual(1000)
    expect(members[0]!.rounds).toHaveLength(6)
    await clock.advance(40_000)
    expect(members.map(({ rounds }) => rounds.map(({ outcome }) => outcome))).toEqual(
      new Array(2).fill(new Array(7).fill('averaged')),
    )
  })

  it('is waited for where not most of the ring is left: it may be we who are cut off', async () => {
    const bench = await usualRounds(2)
    bench.network.hinder(frozen, { frozenUntilMs: bench.clock.now() + 30_000 })
    bench.members[0]!.made(4)
    expect(await closedFor(bench)).toBeGreaterThan(29_000)
  })
})

describe('a round in doubt', () => {
  /** Everyone holds the mean, and nobody has heard that of the others. */
  async function inDoubt(): Promise<Bench> {
    const bench = await createBench({ cuts: [[], [], []], averageEvery: 2, linkMs: 100, seed: 3 })
    for (const member of bench.members) member.made(2)
    const waits = () => bench.members.map(({ averaging }) => averaging.stats().waitingFor)
    for (let waited = 0; waited < 2000; waited++) {
      if (waits().every((text) => text.endsWith('to have the whole average'))) return bench
      await bench.clock.advance(1)
    }
    return expect.unreachable('all members are in doubt at some moment')
  }

  it('is not given up by one member, for others may have written', async () => {
    const bench = await inDoubt()
    const before = await Promise.all([0, 1, 2].map((cluster) => bench.numbers(cluster)))
    const mean = before[0]!.map((value, at) => Math.fround((value + before[1]![at]! + before[2]![at]!) / 3))
    for (const { averaging } of bench.members) averaging.abandon('changed my mind')
    await bench.clock.advance(1000)
    expect(await Promise.all([0, 1, 2].map((cluster) => bench.numbers(cluster)))).toEqual([mean, mean, mean])
  })
})
