import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialState } from '../../../main/core/model/initial-state.ts'
import { joinStates, sliceState } from '../../../main/core/model/state.ts'
import type { StateVector } from '../../../main/core/ports.ts'
import { InvariantError } from '../../../shared/errors.ts'
import type { LayerRange } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import { smallImageGraph as graph } from './graphs.ts'

const layerCount = graph.layers.length
const layouts = layoutOfGraph(graph)
const { length } = stateLayout(layouts, [0, layerCount])
/** Every number different, so that a misplaced one shows. */
const whole: StateVector = {
  layers: [0, layerCount],
  values: Float32Array.from({ length }, (_, index) => index),
}

const range = fc
  .tuple(fc.nat(layerCount), fc.nat(layerCount))
  .map(([a, b]): LayerRange => [Math.min(a, b), Math.max(a, b)])
const cuts = fc
  .uniqueArray(fc.integer({ min: 1, max: layerCount - 1 }))
  .map((inner) => [0, ...inner.toSorted((a, b) => a - b), layerCount])

/** Numbers by parameter name: the oracle knows nothing of regions. */
function byName({ layers, values }: StateVector): Map<string, number[]> {
  const { trained, untrained } = stateLayout(layouts, layers)
  return new Map(
    [...trained, ...untrained].map(({ name, offset, length: count }) => [
      name,
      [...values.subarray(offset, offset + count)],
    ]),
  )
}

const rest = () => Promise.resolve()

describe('the numbers of a run of layers', () => {
  it('are, sliced from any longer run, those of the same parameters in the whole model', () => {
    fc.assert(
      fc.property(range, range, (outer, inner) => {
        const from = Math.max(outer[0], inner[0])
        const run: LayerRange = [from, Math.max(from, Math.min(outer[1], inner[1]))]
        fc.pre(run[1] <= outer[1])
        const sliced = byName(sliceState(graph, sliceState(graph, whole, outer), run))
        const all = byName(whole)
        for (const [name, numbers] of sliced) expect(numbers).toEqual(all.get(name))
        expect(sliced.size).toBe(layouts.slice(...run).flatMap((layout) => layout.parameters).length)
      }),
    )
  })

  it('make the whole model again when parts that tile it are joined in any order', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (bounds, reversed) => {
        const parts = bounds.slice(1).map((to, index) => sliceState(graph, whole, [bounds[index] ?? 0, to]))
        expect(await joinStates(graph, reversed ? parts.toReversed() : parts, rest)).toEqual(whole)
      }),
    )
  })

  it('are not joined from parts with a gap, an overlap or a wrong length', async () => {
    const part = (from: number, to: number) => sliceState(graph, whole, [from, to])
    const short = { layers: part(0, 4).layers, values: part(0, 4).values.subarray(1) }
    for (const parts of [
      [part(0, 3)],
      [part(0, 3), part(4, 8)],
      [part(0, 4), part(3, 8)],
      [short, part(4, 8)],
    ])
      await expect(joinStates(graph, parts, rest)).rejects.toThrow(InvariantError)
    expect(() => sliceState(graph, part(2, 4), [1, 3])).toThrow(InvariantError)
    expect(() => sliceState(graph, short, [0, 1])).toThrow(InvariantError)
  })
})

describe('the numbers that training starts from', () => {
  it('are the same for a stage as for the whole model', () => {
    const all = initialState(graph, [0, layerCount], 7)
    fc.assert(
      fc.property(range, (run) => {
        expect(initialState(graph, run, 7)).toEqual(sliceState(graph, all, run))
      }),
    )
  })

  it('differ between seeds and between layers of one shape', () => {
    const weights = (seed: number, name: string) =>
      byName(initialState(graph, [0, layerCount], seed)).get(name)
    expect(weights(1, 'hidden/weight')).not.toEqual(weights(2, 'hidden/weight'))
    expect(weights(1, 'norm/scale')).toEqual([1, 1, 1])
    expect(weights(1, 'norm/running-variance')).toEqual([1, 1, 1])
    expect(weights(1, 'block/body/conv/bias')).toEqual([0, 0, 0, 0])
  })

  it('have the deviation that the initializer names', () => {
    const weights = byName(initialState(graph, [0, layerCount], 3)).get('hidden/weight') ?? []
    // 80 numbers of deviation sqrt(2 / 16): a sample deviation strays by about 8 %
    const deviation = Math.sqrt(weights.reduce((sum, weight) => sum + weight ** 2, 0) / weights.length)
    expect(Math.abs(deviation / Math.sqrt(2 / 16) - 1)).toBeLessThan(0.25)
  })
})
