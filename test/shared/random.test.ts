import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRng, nextInt, nextNormal, permutation, seedFrom } from '../../shared/random.ts'

const many = 20_000

describe('seeded chance', () => {
  it('draws the numbers of mulberry32, the same on every machine', () => {
    const rng = createRng(1)
    const drawn = [rng.next(), rng.next(), rng.next()]
    // Published values of the reference implementation for seed 1
    expect(drawn).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522])
  })

  it('keeps to [0, 1) and about fills it', () => {
    const rng = createRng(2)
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let turn = 0; turn < many; turn++) {
      const tenth = Math.floor(rng.next() * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    expect(tenths.length).toBe(10)
    for (const count of tenths) expect(Math.abs(count - many / 10)).toBeLessThan(0.08 * (many / 10))
  })

  it('tells apart how parts are split, and what they are', () => {
    const seeds = [['a', 'bc'], ['ab', 'c'], ['abc'], ['abc', ''], [1, 2], [12], []].map((parts) =>
      seedFrom(...parts),
    )
    expect(new Set(seeds).size).toBe(seeds.length)
    expect(seedFrom('a', 1)).toBe(seedFrom('a', '1'))
  })

  it('draws normal numbers of mean 0 and deviation 1, all finite', () => {
    const rng = createRng(3)
    const drawn = Array.from({ length: many }, () => nextNormal(rng))
    const mean = drawn.reduce((sum, value) => sum + value, 0) / many
    const variance = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / many
    const withinOne = drawn.filter((value) => Math.abs(value) < 1).length / many
    expect(Math.abs(mean)).toBeLessThan(0.03)
    expect(Math.abs(variance - 1)).toBeLessThan(0.05)
    expect(Math.abs(withinOne - 0.6827)).toBeLessThan(0.015)
    expect(nextNormal({ next: () => 0 })).toBeCloseTo(0)
  })

  it('draws whole numbers below a bound', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 1000 }), (seed, below) => {
        const drawn = nextInt(createRng(seed), below)
        expect(Number.isInteger(drawn) && drawn >= 0 && drawn < below).toBe(true)
      }),
    )
  })

  it('shuffles without losing or doubling anything', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(300), (seed, length) => {
        const order = permutation(createRng(seed), length)
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length }, (_, index) => index))
      }),
    )
    expect(permutation(createRng(1), 50)).not.toEqual(permutation(createRng(2), 50))
  })
})
