import { describe, expect, it } from 'vitest'
import { learned, nothingLearned } from '../../../shared/job/learned.ts'
import {
  correctedPool,
  learnFrom,
  type Lesson,
  slownessInWords,
  slownessOf,
  spreadOf,
} from '../../../main/core/job/learned.ts'
import { poolOf } from '../../simulation/small.ts'

const lesson = (speeds: Lesson['speeds'], rate: number | undefined): Lesson => ({
  ...{ speeds, rate, attendance: [] },
})

describe('what a job teaches of a PC', () => {
  it('is taken over whole the first time and by half later', () => {
    const first = learnFrom(nothingLearned, lesson([{ peer: 'pc-0', slower: 1.21 }], 0.8))
    expect(first).toEqual({ peers: [{ peer: 'pc-0', slower: 1.21, runs: 1 }], rates: [0.8] })
    const second = learnFrom(first, lesson([{ peer: 'pc-0', slower: 1.44 }], undefined))
    expect(second.peers[0]).toEqual({ peer: 'pc-0', slower: expect.closeTo(1.452, 9) as number, runs: 2 })
    expect(second.rates).toEqual([0.8])
  })

  it('comes to the truth and stays there, whatever the benchmark says', () => {
    let known = nothingLearned
    for (let job = 0; job < 20; job++)
      known = learnFrom(known, lesson([{ peer: 'pc-0', slower: 1.5 / slownessOf(known, 'pc-0') }], 1))
    expect(slownessOf(known, 'pc-0')).toBeCloseTo(1.5, 9)
    expect(correctedPool(poolOf([{ flopsPerSecond: 3e9 }]), known).peers[0]?.flopsPerSecond).toBeCloseTo(
      2e9,
      0,
    )
  })

  it('is bounded: the newest 256 PCs and 16 jobs, factors that its file takes', () => {
    let known = nothingLearned
    for (let job = 0; job < 300; job++)
      known = learnFrom(known, lesson([{ peer: `pc-${job}`, slower: job % 2 === 0 ? 1e9 : 1e-9 }], job))
    expect(known.peers).toHaveLength(256)
    expect(known.peers.at(-1)?.peer).toBe('pc-299')
    expect(known.rates).toHaveLength(16)
    expect(learned.parse(known)).toEqual(known)
  })

  it('says nothing of a PC nobody knows', () => {
    const pool = poolOf([{}, {}])
    expect(correctedPool(pool, nothingLearned)).toEqual(pool)
  })
})

describe('how much a PC was there', () => {
  const evening = (share: number): Lesson => ({
    ...{ speeds: [], rate: undefined, attendance: [{ peer: 'pc-0', share }] },
  })

  it('counts by half: everybody is trusted at first', () => {
    const first = learnFrom(nothingLearned, evening(0.6))
    expect(first.peers).toEqual([{ peer: 'pc-0', slower: 1, reliability: 0.8, runs: 1 }])
    expect(learnFrom(first, evening(0.4)).peers[0]?.reliability).toBeCloseTo(0.6, 12)
    // A job that says nothing of it changes nothing, and one of a PC that was always there says nothing special.
    expect(learnFrom(first, lesson([{ peer: 'pc-0', slower: 1 }], 1)).peers[0]?.reliability).toBe(0.8)
    expect(learnFrom(nothingLearned, evening(1)).peers).toEqual([{ peer: 'pc-0', slower: 1, runs: 1 }])
  })

  it('is what the next plan counts on, beside what the pool says', () => {
    const known = learnFrom(nothingLearned, evening(0.6))
    const [seldom, always] = correctedPool(poolOf([{ availability: { hoursPerDay: 12 } }, {}]), known).peers
    expect(seldom?.availability).toEqual({ hoursPerDay: 12, reliability: 0.8 })
    expect(always?.availability).toBeUndefined()
  })

  it('is never nothing, and what its file takes', () => {
    let known = nothingLearned
    for (let job = 0; job < 20; job++) known = learnFrom(known, evening(0))
    expect(known.peers[0]?.reliability).toBe(0.05)
    expect(learned.parse(known)).toEqual(known)
  })
})

describe('the range of a forecast', () => {
  it('is a guess at first, then the spread of the jobs that ended', () => {
    expect(spreadOf({ peers: [], rates: [1, 1] })).toEqual([0.95, 1.3])
    const [low, high] = spreadOf({ peers: [], rates: [0.8, 1, 1.25] })
    expect(low).toBeCloseTo(0.8 * 0.98, 9)
    expect(high).toBeCloseTo(1.25 * 1.02, 9)
  })
})

it('puts a difference into words, where there is one', () => {
  expect([1.123, 0.9, 1.01].map(slownessInWords)).toEqual([
    '12 % slower than measured',
    '10 % faster than measured',
    undefined,
  ])
})
