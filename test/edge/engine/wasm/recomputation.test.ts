/** Where the plan says so, or the budget leaves no room for slots, passes are repeated from their inputs: the very same numbers. */
import { describe, expect, it } from 'vitest'
import { createWasmEngine } from '../../../../main/edge/engine/wasm/stage-engine.ts'
import {
  begin,
  bitsOf,
  convolutional,
  setupOf,
  transformer,
  idsOf,
  valuesOf,
} from '../../../contracts/stage-engine-models.ts'

const inFlight = 8
const optimizer = { type: 'adamw', learningRate: 0.01 }

/** Three rounds of eight micro-batches in flight. @returns the numbers after, and the most memory taken */
async function trained(graph: typeof convolutional, memoryBudgetBytes: number, recompute?: boolean) {
  const engine = createWasmEngine({ kernels: 'narrow', threads: 1 })
  const layers = [0, graph.layers.length - 1] as const
  const way = recompute === undefined ? {} : { recompute }
  await begin(engine, { ...setupOf(graph, { layers, optimizer, memoryBudgetBytes }), ...way })
  const tokens = graph.input.type === 'tokens'
  const numbers = Array.from({ length: inFlight }, (_, index) => index)
  for (const round of [0, 1, 2]) {
    const shapes = []
    for (const microBatch of numbers) {
      const seed = round * inFlight + microBatch
      const input = tokens ? idsOf([3, 5], 10, seed) : valuesOf([3, 6, 6, 2], seed)
      shapes.push((await engine.forward({ microBatch, input, predictUpdates: 0 })).shape)
    }
    for (const microBatch of numbers)
      await engine.backward(microBatch, valuesOf(shapes[microBatch]!, microBatch))
    await engine.update()
  }
  const { peakBytes } = await engine.memory()
  return { state: bitsOf((await engine.readState(layers)).values), peakBytes }
}

const models = [
  ['convolutions, batch norm and dropout', convolutional],
  ['attention', transformer],
] as const

describe('a stage whose budget is small', () => {
  it.each(models)('trains to the same bits within it: %s', async (_what, graph) => {
    const free = await trained(graph, 0)
    const budget = Math.round(free.peakBytes * 0.6)
    const bound = await trained(graph, budget)
    expect(bound.state).toBe(free.state)
    expect(bound.peakBytes).toBeLessThanOrEqual(budget)
  })
})

describe('a stage whose plan says how it runs', () => {
  it.each(models)('does exactly that, to the same bits: %s', async (_what, graph) => {
    const [kept, repeated] = [await trained(graph, 0, false), await trained(graph, 0, true)]
    expect(repeated.state).toBe(kept.state)
    expect(repeated.peakBytes).toBeLessThan(0.6 * kept.peakBytes)
    // Exactly what is taken is enough: nothing is kept in reserve and no pass is repeated.
    expect(await trained(graph, kept.peakBytes, false)).toEqual(kept)
    expect(await trained(graph, repeated.peakBytes, true)).toEqual(repeated)
  })
})
