/** Threads share the work of kernels without changing a bit of the results. */
import { afterAll, describe, expect, it } from 'vitest'
import { initialState } from '../../../../main/core/model/initial-state.ts'
import { createWasmEngine } from '../../../../main/edge/engine/wasm/stage-engine.ts'
import { modelGraph } from '../../../../shared/model/graph.ts'
import { bitsOf, idsOf, setupOf, valuesOf } from '../../../contracts/stage-engine-models.ts'

const graphOf = (rest: object) =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'wide',
    task: 'classify',
    loss: { type: 'cross-entropy' },
    ...rest,
  })

/** Large enough that most kernels are shared. */
const convolutional = graphOf({
  input: { type: 'values', shape: [13, 13, 3] },
  layers: [
    { type: 'conv2d', name: 'a', filters: 37, kernel: 3 },
    { type: 'batch-norm', name: 'norm' },
    { type: 'relu', name: 'relu' },
    { type: 'conv2d', name: 'b', filters: 64, kernel: 3, stride: 2 },
    { type: 'dropout', name: 'drop', rate: 0.2 },
    { type: 'average-pool', name: 'pool', size: 2, padding: 'same' },
    // Few outputs and many filters: threads share the filters.
    { type: 'conv2d', name: 'c', filters: 300, kernel: 3 },
    { type: 'flatten', name: 'flat' },
    { type: 'dense', name: 'head', units: 10 },
  ],
})

const transformer = graphOf({
  task: 'next-token',
  input: { type: 'tokens', length: 33, vocabulary: 50 },
  layers: [
    { type: 'token-embedding', name: 'tokens', vocabulary: 50, width: 72 },
    { type: 'position-embedding', name: 'positions' },
    {
      type: 'residual',
      name: 'mix',
      body: [
        { type: 'layer-norm', name: 'norm' },
        { type: 'attention', name: 'attention', heads: 3, causal: true },
      ],
    },
    { type: 'dense', name: 'up', units: 300 },
    { type: 'gelu', name: 'gelu' },
    { type: 'dense', name: 'head', units: 50 },
  ],
})

const engines = [1, 2, 3].map((threads) => createWasmEngine({ kernels: 'auto', threads }))
afterAll(() => Promise.all(engines.map((engine) => engine.unload())))

describe('a step on several threads', () => {
  it.each([
    ['convolutions', convolutional, valuesOf([24, 13, 13, 3], 1), idsOf([24], 10, 2)],
    ['attention', transformer, idsOf([16, 33], 50, 1), idsOf([16, 33], 50, 2)],
  ])('gives the bits of one thread, forty times: %s', async (_what, graph, input, labels) => {
    const layers = [0, graph.layers.length] as const
    const runs = engines.map(async (engine) => {
      await engine.load(setupOf(graph, { optimizer: { type: 'adamw', learningRate: 0.003 } }))
      await engine.writeState(initialState(graph, layers, 1))
      for (let microBatch = 0; microBatch < 40; microBatch++) {
        await engine.forwardLoss({ microBatch, input, labels, predictUpdates: 0 })
        await engine.update()
      }
      return bitsOf((await engine.readState(layers)).values)
    })
    expect(new Set(await Promise.all(runs)).size).toBe(1)
  })
})
