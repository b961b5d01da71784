import { describe, expect, it } from 'vitest'
import { neighbourhoodsOf, type Way } from '../../../main/core/planner/search/neighbourhoods.ts'

/** Every pair of peers, near inside a network and far across. */
function waysBetween(networks: readonly (readonly number[])[], near: number, far: number): Way[] {
  const all = networks.flat().sort((a, b) => a - b)
  const networkOf = (peer: number) => networks.findIndex((network) => network.includes(peer))
  return all.flatMap((a) =>
    all
      .filter((b) => b > a)
      .map((b): Way => [a, b, (networkOf(a) === networkOf(b) ? near : far) * (1 + 0.01 * ((a * 7 + b) % 5))]),
  )
}

describe('the networks that links give away', () => {
  it('are those inside which everyone is much nearer than outside', () => {
    const networks = [[0, 4, 5], [1], [2, 3, 6, 7]]
    expect(neighbourhoodsOf(8, waysBetween(networks, 0.001, 0.03), 1)).toEqual([networks])
  })

  it('are found at several scales, the clearest first', () => {
    const homes = [
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ]
    const towns = [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]
    const ways = waysBetween(homes, 0.001, 1).map(([a, b, cost]): Way => {
      const sameTown = towns.some((town) => town.includes(a) && town.includes(b))
      return [a, b, cost >= 1 && sameTown ? cost / 20 : cost]
    })
    expect(neighbourhoodsOf(8, ways, 3)).toEqual([homes, towns])
  })

  it('are none where all pairs are alike, and single peers where only few links are known', () => {
    expect(neighbourhoodsOf(4, waysBetween([[0, 1, 2, 3]], 0.01, 0.01), 3)).toEqual([])
    expect(neighbourhoodsOf(4, [[1, 3, 0.001]], 3)).toEqual([[[0], [1, 3], [2]]])
  })
})
