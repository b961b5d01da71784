import { describe, expect, it } from 'vitest'
import { references, settingOf, simulated } from './runtime-model/reproduce.ts'
import {
  allReduceTime,
  decentralisedTime,
  hiddenShare,
  simulateDecentralised,
  topologies,
} from './runtime-model/model.ts'

const workers = 32
const still = { stragglers: { type: 'none', deviation: 0 }, seed: 0 } as const

describe('the runtime model', () => {
  it.each(references.filter(({ variance }) => variance === 0))(
    'simulated equals its closed form where all compute alike: γN = $gamma',
    (reference) => {
      const setting = settingOf(reference.gamma)
      const { allReduce, complete, partial } = simulated(reference)
      expect(allReduce).toBeCloseTo(workers * allReduceTime(setting), 9)
      expect(complete).toBeCloseTo(workers * decentralisedTime(setting, 1), 9)
      for (const time of partial) expect(time).toBeCloseTo(workers * decentralisedTime(setting, 0.6), 9)
      expect(allReduce).toBeCloseTo(reference.allReduce, 9)
    },
  )

  it.each(references)('gives the reference’s table: σ² = $variance, γN = $gamma', (reference) => {
    const { allReduce, complete, partial } = simulated(reference)
    const ours = [allReduce, complete, ...partial]
    const theirs = [reference.allReduce, reference.complete, ...(reference.partial ?? [])]
    for (const [index, value] of theirs.entries())
      expect(Math.abs((ours[index] ?? 0) / value - 1)).toBeLessThan(0.01)
  })

  it('hides exchanges up to its threshold, and not beyond', () => {
    const setting = settingOf(4)
    const timeAt = (share: number) =>
      workers * simulateDecentralised(setting, { groups: topologies.ring(workers), share }, still)
    expect(hiddenShare(setting)).toBeCloseTo(3.364 / 4, 12)
    expect(timeAt(hiddenShare(setting) * 0.99)).toBeCloseTo(7 * 3.364, 9)
    expect(timeAt(hiddenShare(setting) * 1.25)).toBeCloseTo(1.25 * 7 * 3.364, 9)
  })

  it.each(Object.entries(topologies))('puts each worker into one group a round: %s', (_name, groupsOf) => {
    for (let round = 0; round < 6; round++) {
      const members = groupsOf(8)(round).flat().toSorted((a, b) => a - b) // prettier-ignore
      expect(members).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    }
  })
})
