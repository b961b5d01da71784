/** Small models of the layers that stale weights can spoil, and samples made up for them. */
import type { BatchSource } from '../../../main/core/ports.ts'
import { type ModelGraph, modelGraph } from '../../../shared/model/graph.ts'
import { createRng, nextInt, seedFrom } from '../../../shared/random.ts'
import { createFakeBatches } from '../../fakes/batches.ts'

/** A model and where it may be cut into 2, 3 and 4 stages. */
export interface CutModel {
  readonly graph: ModelGraph
  readonly cuts: Readonly<Record<2 | 3 | 4, readonly number[]>>
}

const graphOf = (rest: object): ModelGraph =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'exact',
    task: 'classify',
    loss: { type: 'cross-entropy' },
    ...rest,
  })

const conv = (name: string, filters: number, more: object = {}) => ({ type: 'conv2d', name, filters, kernel: 3, ...more }) // prettier-ignore
const batchNorm = (name: string) => ({ type: 'batch-norm', name, momentum: 0.8 })
const dense = (name: string, units: number) => ({ type: 'dense', name, units })
const plain = (type: string, name: string) => ({ type, name })
const classes = 5

export const convolutional: CutModel = {
  graph: graphOf({
    input: { type: 'values', shape: [6, 6, 2] },
    layers: [
      conv('conv-a', 4),
      batchNorm('norm-a'),
      plain('relu', 'relu-a'),
      conv('conv-b', 6, { stride: 2 }),
      batchNorm('norm-b'),
      plain('relu', 'relu-b'),
      { type: 'residual', name: 'block', body: [conv('conv', 6, { groups: 6 }), batchNorm('norm')] },
      { type: 'max-pool', name: 'pool', size: 2, stride: 1 },
      plain('flatten', 'flat'),
      dense('head', classes),
    ],
  }),
  cuts: { 2: [4], 3: [1, 6], 4: [1, 4, 7] },
}

const width = 8
const vocabulary = 11

export const transformer: CutModel = {
  graph: graphOf({
    task: 'next-token',
    input: { type: 'tokens', length: 5, vocabulary },
    layers: [
      { type: 'token-embedding', name: 'tokens', vocabulary, width, initializer: { type: 'normal', deviation: 0.5 } },
      { ...plain('position-embedding', 'positions'), initializer: { type: 'normal', deviation: 0.5 } },
      { type: 'residual', name: 'mix', body: [plain('layer-norm', 'norm'), { type: 'attention', name: 'attention', heads: 2, causal: true, initializer: { type: 'xavier' } }] },
      { type: 'residual', name: 'think', body: [plain('layer-norm', 'norm'), dense('up', 16), plain('gelu', 'gelu'), dense('down', width)] },
      plain('layer-norm', 'norm'),
      dense('head', vocabulary),
    ],
  }),
  cuts: { 2: [3], 3: [2, 4], 4: [1, 3, 4] },
} // prettier-ignore

const drop = (name: string) => ({ type: 'dropout', name, rate: 0.3 })

const dropping: CutModel = {
  graph: graphOf({
    input: { type: 'values', shape: [9] },
    layers: [
      dense('wide', 16),
      plain('silu', 'silu'),
      drop('drop-a'),
      { type: 'residual', name: 'block', body: [dense('in', 16), drop('drop'), plain('relu', 'relu'), dense('out', 16)] }, // prettier-ignore
      drop('drop-b'),
      batchNorm('norm'),
      dense('head', classes),
    ],
  }),
  cuts: { 2: [3], 3: [2, 4], 4: [1, 3, 5] },
}

/** By the layers that make them hard. */
export const models: Readonly<Record<string, CutModel>> = {
  'convolutions and batch norm': convolutional,
  'embeddings, layer norm and attention': transformer,
  dropout: dropping,
}

/** Rows of token ids, each label the id after it in a sequence made up from the row. */
function createTokenBatches(seed: number, length: number): BatchSource {
  const rowOf = (row: number) => {
    const rng = createRng(seedFrom(seed, 'tokens', row))
    return Array.from({ length: length + 1 }, () => nextInt(rng, vocabulary))
  }
  const tensorOf = (rows: Uint32Array, from: number) => {
    const data = Int32Array.from([...rows].flatMap((row) => rowOf(row).slice(from, from + length)))
    return Promise.resolve({ dtype: 'int32' as const, shape: [rows.length, length], data })
  }
  return { inputs: ({ rows }) => tensorOf(rows, 0), labels: ({ rows }) => tensorOf(rows, 1) }
}

export function samplesFor({ input }: ModelGraph, seed: number): BatchSource {
  if (input.type === 'tokens') return createTokenBatches(seed, input.length)
  return createFakeBatches({ seed, shape: input.shape, classes })
}
