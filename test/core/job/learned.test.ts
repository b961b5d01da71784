import { describe, expect, it } from 'vitest'
import { learned, nothingLearned } from '../../../shared/job/learned.ts'
import {
  correctedPool,
  learnFrom,
  slownessInWords,
  slownessOf,
  spreadOf,
} from '../../../main/core/job/learned.ts'
import { poolOf } from '../../simulation/small.ts'

describe('what a job teaches of a PC', () => {
  it('is taken over whole the first time and by half later', () => {
    const first = learnFrom(nothingLearned, [{ peer: 'pc-0', slower: 1.21 }], 0.8)
    expect(first).toEqual({ peers: [{ peer: 'pc-0', slower: 1.21, runs: 1 }], rates: [0.8] })
    const second = learnFrom(first, [{ peer: 'pc-0', slower: 1.44 }], undefined)
    expect(second.peers[0]).toEqual({ peer: 'pc-0', slower: expect.closeTo(1.452, 9) as number, runs: 2 })
    expect(second.rates).toEqual([0.8])
  })

  it('comes to the truth and stays there, whatever the benchmark says', () => {
    let known = nothingLearned
    for (let job = 0; job < 20; job++)
      known = learnFrom(known, [{ peer: 'pc-0', slower: 1.5 / slownessOf(known, 'pc-0') }], 1)
    expect(slownessOf(known, 'pc-0')).toBeCloseTo(1.5, 9)
    expect(correctedPool(poolOf([{ flopsPerSecond: 3e9 }]), known).peers[0]?.flopsPerSecond).toBeCloseTo(
      2e9,
      0,
    )
  })

  it('is bounded: the newest 256 PCs and 16 jobs, factors that its file takes', () => {
    let known = nothingLearned
    for (let job = 0; job < 300; job++)
      known = learnFrom(known, [{ peer: `pc-${job}`, slower: job % 2 === 0 ? 1e9 : 1e-9 }], job)
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
