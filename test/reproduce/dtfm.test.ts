import { describe, expect, it } from 'vitest'
import { createRng, nextInt, permutation } from '../../shared/random.ts'
import { bottleneckMatching, createCommunicationCost, shortestPath } from './dtfm/cost.ts'
import { groupCount, layoutsOf } from './dtfm/reproduce.ts'
import { scenarios } from './dtfm/scenarios.ts'
import { searchGroups } from './dtfm/search.ts'

const costOf = (index: number) => createCommunicationCost(scenarios[index]!, groupCount)
const { block, strided } = layoutsOf(64)

function permutationsOf(values: readonly number[]): number[][] {
  if (values.length < 2) return [[...values]]
  return values.flatMap((one) =>
    permutationsOf(values.filter((other) => other !== one)).map((rest) => [one, ...rest]),
  )
}

describe('the cost of DT-FM', () => {
  it('of the published layouts is as published', () => {
    expect(scenarios.map((_, index) => costOf(index).of(block).total.toFixed(3))).toEqual([
      '16.981',
      '49.504',
      '17.648',
      '39.241',
      '59.437',
    ])
    expect(scenarios.map((_, index) => costOf(index).of(strided).total.toFixed(3))).toEqual([
      '3.440',
      '49.504',
      '16.087',
      '34.802',
      '49.218',
    ])
  })

  it('does not change where devices of one place change their numbers', () => {
    // Within the first region of the world-wide network.
    const renamed = strided.map((group) => group.map((device) => (device < 8 ? (device + 3) % 8 : device)))
    expect(costOf(4).of(renamed)).toEqual(costOf(4).of(strided))
  })

  it('pairs two groups so that the slowest pair is as fast as can be, as trying all ways does', () => {
    const rng = createRng(1)
    for (let turn = 0; turn < 50; turn++) {
      const size = 1 + nextInt(rng, 5)
      const weights = Array.from({ length: size }, () => Array.from({ length: size }, () => nextInt(rng, 30)))
      const slowest = permutationsOf(weights.map((_, index) => index)).map((columns) =>
        Math.max(...columns.map((column, row) => weights[row]![column]!)),
      )
      expect(bottleneckMatching(weights)).toBe(Math.min(...slowest))
    }
  })

  it('orders the stages along the shortest path, as trying all orders does', () => {
    const rng = createRng(2)
    for (let turn = 0; turn < 20; turn++) {
      const count = 2 + nextInt(rng, 5)
      const weights = new Float64Array(count * count)
      for (let a = 0; a < count; a++)
        for (let b = 0; b < a; b++) weights[a * count + b] = weights[b * count + a] = nextInt(rng, 100)
      const lengths = permutationsOf(Array.from({ length: count }, (_, index) => index)).map((order) =>
        order.slice(1).reduce((sum, place, index) => sum + weights[order[index]! * count + place]!, 0),
      )
      expect(shortestPath(weights, count)).toBe(Math.min(...lengths))
    }
  })
})

describe('the search', () => {
  it('finds the best known layout of two organisations with little effort, whatever their devices are numbered', () => {
    const scenario = scenarios[2]!
    const numbers = permutation(createRng(3), 64)
    const shuffle = (matrix: Float64Array) =>
      matrix.map((_, at) => matrix[numbers[Math.floor(at / 64)]! * 64 + numbers[at % 64]!]!)
    const shuffled = {
      ...scenario,
      delaySeconds: shuffle(scenario.delaySeconds),
      gigabitsPerSecond: shuffle(scenario.gigabitsPerSecond),
    }
    const { groups, costs } = searchGroups(shuffled, { seed: 1, evaluations: 60, neighbourhoods: true })
    expect(costs.total).toBeCloseTo(16.087, 3)
    expect(groups.map(({ length }) => length)).toEqual(new Array(8).fill(8))
    expect(groups.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, index) => index))
  })

  it('keeps its groups even and disjoint from random founders, too', () => {
    const { groups } = searchGroups(scenarios[3]!, { seed: 4, evaluations: 120, neighbourhoods: false })
    expect(groups.map(({ length }) => length)).toEqual(new Array(8).fill(8))
    expect(new Set(groups.flat()).size).toBe(64)
  })
})
