/** Small models, micro-batches and oracles for the contract of `StageEngine`. */
import * as tf from '@tensorflow/tfjs'
import { initialState } from '../../main/core/model/initial-state.ts'
import type { StageEngine, StageSetup } from '../../main/core/ports.ts'
import { runLayers } from '../../main/edge/engine/tfjs/layers/run.ts'
import { learningRateSchedule, optimizer } from '../../shared/job/recipe.ts'
import { type LayerRange, type ModelGraph, modelGraph } from '../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import { createRng, nextInt, nextNormal } from '../../shared/random.ts'
import { type HostTensor, elementCount, floatTensor } from '../../shared/tensor.ts'

/** Engines to use, one a stage; a test loads what it needs and forgets what was there. */
export type Engines = () => readonly [StageEngine, StageEngine, StageEngine]

const graphOf = (rest: object): ModelGraph =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'contract',
    task: 'classify',
    loss: { type: 'cross-entropy' },
    ...rest,
  })

const image = { type: 'values', shape: [6, 6, 2] }

/** Convolutions and batch norm, cut at 3 and 6. */
export const convolutional = graphOf({
  input: image,
  layers: [
    { type: 'conv2d', name: 'conv-a', filters: 4, kernel: 3 },
    { type: 'batch-norm', name: 'norm-a' },
    { type: 'relu', name: 'relu-a' },
    { type: 'residual', name: 'block', body: [{ type: 'conv2d', name: 'conv', filters: 4, kernel: 3 }, { type: 'batch-norm', name: 'norm' }] },
    { type: 'dropout', name: 'drop', rate: 0.25 },
    { type: 'max-pool', name: 'pool', size: 2 },
    { type: 'flatten', name: 'flat' },
    { type: 'dense', name: 'head', units: 5 },
  ],
}) // prettier-ignore

/** Embeddings, layer norm and causal attention, cut at 2 and 4. Ten tokens, five positions. */
export const transformer = graphOf({
  task: 'next-token',
  input: { type: 'tokens', length: 5, vocabulary: 10 },
  layers: [
    { type: 'token-embedding', name: 'tokens', vocabulary: 10, width: 8, initializer: { type: 'normal', deviation: 0.5 } },
    { type: 'position-embedding', name: 'positions' },
    { type: 'residual', name: 'mix', body: [{ type: 'layer-norm', name: 'norm' }, { type: 'attention', name: 'attention', heads: 2, causal: true }] },
    { type: 'residual', name: 'think', body: [{ type: 'layer-norm', name: 'norm' }, { type: 'dense', name: 'up', units: 16 }, { type: 'gelu', name: 'gelu' }, { type: 'dense', name: 'down', units: 8 }] },
    { type: 'layer-norm', name: 'norm' },
    { type: 'dense', name: 'head', units: 10 },
  ],
}) // prettier-ignore

/** One matrix and a head: its first layer's gradient is input × gradient, nothing else. */
export const linear = (inputs: number): ModelGraph =>
  graphOf({
    input: { type: 'values', shape: [inputs] },
    layers: [
      { type: 'dense', name: 'first', units: 1, bias: false },
      { type: 'dense', name: 'head', units: 2, bias: false },
    ],
  })

/** Layers between two others that let values through. */
export const between = (layers: readonly object[], shape: readonly number[], loss?: object): ModelGraph =>
  graphOf({
    input: { type: 'values', shape },
    layers: [{ type: 'relu', name: 'first' }, ...layers, { type: 'relu', name: 'last' }],
    ...(loss && { loss }),
  })

/** What a test wants different from SGD with rate 1: a weight then moves by exactly its mean gradient. */
export interface Wanted {
  readonly layers?: LayerRange
  readonly optimizer?: object
  readonly learningRate?: object
  readonly clipNorm?: number
  readonly memoryBudgetBytes?: number
}

export function setupOf(graph: ModelGraph, wanted: Wanted = {}): StageSetup {
  return {
    graph,
    layers: wanted.layers ?? [0, graph.layers.length],
    optimizer: optimizer.parse(wanted.optimizer ?? { type: 'sgd', learningRate: 1 }),
    learningRate: learningRateSchedule.parse(wanted.learningRate ?? { type: 'constant' }),
    ...(wanted.clipNorm !== undefined && { clipNorm: wanted.clipNorm }),
    seed: 11,
    memoryBudgetBytes: wanted.memoryBudgetBytes ?? 0,
  }
}

/** Load a stage and give it the numbers that training starts from. */
export async function begin(engine: StageEngine, setup: StageSetup): Promise<Float32Array> {
  await engine.load(setup)
  const state = initialState(setup.graph, setup.layers, 5)
  await engine.writeState(state)
  return state.values
}

export function valuesOf(shape: readonly number[], seed: number): HostTensor {
  const rng = createRng(seed)
  return floatTensor(
    Float32Array.from({ length: elementCount(shape) }, () => nextNormal(rng)),
    shape,
  )
}

export function idsOf(shape: readonly number[], below: number, seed: number): HostTensor {
  const rng = createRng(seed)
  const data = Int32Array.from({ length: elementCount(shape) }, () => nextInt(rng, below))
  return { dtype: 'int32', shape, data }
}

/** A micro-batch of three samples for a whole model. */
export function microBatchOf(graph: ModelGraph, seed: number): { input: HostTensor; labels: HostTensor } {
  if (graph.input.type === 'tokens') {
    const { length, vocabulary } = graph.input
    return {
      input: idsOf([3, length], vocabulary, seed),
      labels: idsOf([3, length], vocabulary, seed + 1000),
    }
  }
  return { input: valuesOf([3, ...graph.input.shape], seed), labels: idsOf([3], 5, seed + 1000) }
}

/**
 * Gradient by the trained numbers of a stage, by TensorFlow.js's own autodiff at weights given as plain numbers.
 *
 * @param state - the stage's numbers
 * @param gradient - by the stage's output
 */
export function autodiff(
  setup: StageSetup,
  state: Float32Array,
  pass: { input: HostTensor; gradient: HostTensor },
) {
  const layout = stateLayout(layoutOfGraph(setup.graph), setup.layers)
  const places = [...layout.trained, ...layout.untrained]
  const tensorOf = ({ data, shape }: HostTensor) => tf.tensor(data.slice(), [...shape])
  const layers = setup.graph.layers.slice(...setup.layers)
  return tf.tidy(() => {
    const tensors = places.map(({ offset, length, shape }) =>
      tensorOf(floatTensor(state.slice(offset, offset + length), shape)),
    )
    const f = (...given: tf.Tensor[]) => {
      const all = [...given, ...tensors.slice(given.length)]
      const parameters = new Map(places.map(({ name }, index) => [name, all[index]!]))
      return runLayers(layers, parameters, tensorOf(pass.input), { training: true, dropoutSeed: 0 })
    }
    const slopes = tf.grads(f)(tensors.slice(0, layout.trained.length), tensorOf(pass.gradient))
    return Float32Array.from(slopes.flatMap((slope) => [...slope.dataSync()]))
  })
}

/** The largest difference of two vectors, of the same length, as a share of the largest of the second. */
export function gap(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (found.length !== wanted.length) return Infinity
  const seen = Array.from(wanted)
  const largest = Math.max(1e-12, ...seen.map(Math.abs))
  return Math.max(0, ...seen.map((value, index) => Math.abs(value - (found[index] ?? NaN)) / largest))
}

/** Bits of a vector: equal only where every float is the very same. */
export const bitsOf = (values: Float32Array): string =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('hex')
