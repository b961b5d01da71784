import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Checksum, checksumOf } from '../../../../main/core/job/moving/checksum.ts'
import {
  heldOf,
  lengthOf,
  readPortion,
  wholePortion,
  writePortion,
} from '../../../../main/core/job/moving/held.ts'
import { cutAt, parcelsOf, without } from '../../../../main/core/job/moving/parcels.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { emptyRun, modelOf, numbersOf, wholeRun } from './peers.ts'

const model = modelOf(3, 5)
const { layouts } = model
const all = wholeRun(model)
const runs = fc
  .tuple(fc.nat(all[1]), fc.nat(all[1]))
  .map(([one, other]): LayerRange => [Math.min(one, other), Math.max(one, other)])

describe('a portion of the numbers of a run', () => {
  it('goes into another run that holds it and is the same there, trained and untrained, whatever the cuts', () => {
    fc.assert(
      fc.property(runs, runs, fc.nat(200), fc.nat(200), (container, run, one, other) => {
        const within: LayerRange = [Math.max(container[0], run[0]), Math.min(container[1], run[1])]
        if (within[0] >= within[1]) return
        const length = lengthOf(layouts, within)
        const [from, to] = [Math.min(one, other, length), Math.min(Math.max(one, other), length)]
        const source = numbersOf(model, all)
        const into = emptyRun(model, container)
        const portion = { layers: within, from, to }
        writePortion(layouts, into, { portion, values: readPortion(layouts, source, portion) })
        expect(readPortion(layouts, into, portion)).toEqual(readPortion(layouts, source, portion))
        // Nothing else is touched.
        const written = into.vectors.reduce(
          (sum, vector) => sum + vector.filter((value) => value !== 0).length,
          0,
        )
        expect(written).toBe(model.vectors * (to - from))
      }),
    )
  })

  it('is laid out as the run itself would be', () => {
    const run: LayerRange = [3, 6]
    const whole = numbersOf(model, all)
    const slice = heldOf({ layers: run, values: readPortion(layouts, whole, wholePortion(layouts, run)) }, 3)
    // A dense layer of 5 × 5 + 5 and a norm of 5 + 5 trained numbers before; the running ones come after all that are trained.
    const [weights] = whole.vectors
    const trained = weights!.subarray(40, 80)
    const untrained = weights!.subarray(3 * 40 + 12 + 10, 3 * 40 + 12 + 20)
    expect([...slice.vectors[0]!]).toEqual([...trained, ...untrained])
    expect(heldOf({ layers: run, values: new Float32Array(6) }, 3).vectors.map((one) => one.length)).toEqual([
      2, 2, 2,
    ])
  })
})

describe('runs of layers', () => {
  it('are tiled by what is cut at any bounds', () => {
    fc.assert(
      fc.property(runs, fc.array(fc.nat(12)), (run, bounds) => {
        const cut = cutAt([run], bounds)
        expect(cut.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i))).toEqual(
          Array.from({ length: run[1] - run[0] }, (_, i) => run[0] + i),
        )
        for (const bound of bounds)
          for (const [from, to] of cut) expect(bound > from && bound < to).toBe(false)
      }),
    )
  })

  it('lack what no other has', () => {
    expect(without([0, 10], [[2, 4], [3, 5], [9, 12]])).toEqual([[0, 2], [5, 9]]) // prettier-ignore
    expect(without([0, 3], [[0, 3]])).toEqual([])
  })

  it('are cut into parcels at the same places, whoever wants them', () => {
    const wide = modelOf(24, 500)
    const bounds = parcelsOf(wide, [wholeRun(wide)]).map(([, to]) => to)
    expect(bounds.length).toBeGreaterThan(2)
    const some = parcelsOf(wide, [[5, 70]]).map(([, to]) => to)
    expect(some.slice(0, -1)).toEqual(bounds.filter((to) => to > 5 && to < 70))
  })
})

describe('a checksum', () => {
  it('is of all that was added, whatever the portions, and knows every bit', () => {
    const values = Float32Array.from({ length: 1000 }, (_, index) => Math.fround(index / 3))
    const parts = new Checksum().add(values.subarray(0, 77)).add(values.subarray(77))
    expect(parts.text).toBe(checksumOf(values))
    const seen = new Set([checksumOf(values)])
    for (let at = 0; at < 1000; at++) {
      const bits = new Uint32Array(values.slice().buffer)
      bits[at]! ^= 1 << (at % 32)
      seen.add(checksumOf(new Float32Array(bits.buffer)))
    }
    expect(seen.size).toBe(1001)
  })

  it('tells other orders, lengths and signs apart', () => {
    const of = (...values: number[]) => checksumOf(Float32Array.from(values))
    const sums = [of(), of(0), of(0, 0), of(-0), of(1, 2), of(2, 1), of(0, 1), of(1, 0)]
    expect(new Set(sums).size).toBe(sums.length)
    for (const sum of sums) expect(sum).toMatch(/^[0-9a-f]{16}$/)
  })
})
