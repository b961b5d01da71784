/** The models that `bench step` trains, each with its micro-batch; `step-torch.py` builds the same. */
import { resolveModel } from '../../main/agent/models.ts'
import { initialState } from '../../main/core/model/initial-state.ts'
import type { StageEngine, StageSetup } from '../../main/core/ports.ts'
import { recipe } from '../../shared/job/recipe.ts'
import { type ModelGraph, modelGraph } from '../../shared/model/graph.ts'
import { layoutOfGraph } from '../../shared/model/layout.ts'
import { createRng, nextInt, nextNormal } from '../../shared/random.ts'
import { type HostTensor, elementCount } from '../../shared/tensor.ts'

export interface Subject {
  readonly name: string
  readonly graph: ModelGraph
  readonly batch: number
  /** Steps a round: enough that the first, with cold caches and sleeping threads, does not count. */
  readonly steps: number
}

/** 784-512-512-10. */
const perceptron = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'mlp',
  task: 'classify',
  input: { type: 'values', shape: [784] },
  layers: [
    { type: 'dense', name: 'a', units: 512 },
    { type: 'relu', name: 'relu-a' },
    { type: 'dense', name: 'b', units: 512 },
    { type: 'relu', name: 'relu-b' },
    { type: 'dense', name: 'head', units: 10 },
  ],
  loss: { type: 'cross-entropy' },
})

/** d = 256, 4 layers, 4 heads, 128 tokens of 256. */
const transformer = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'gpt',
  task: 'next-token',
  input: { type: 'tokens', length: 128, vocabulary: 256 },
  layers: [
    { type: 'token-embedding', name: 'tokens', vocabulary: 256, width: 256 },
    { type: 'position-embedding', name: 'positions' },
    ...[1, 2, 3, 4].flatMap((block) => [
      {
        type: 'residual',
        name: `mix-${block}`,
        body: [
          { type: 'layer-norm', name: 'norm' },
          { type: 'attention', name: 'attention', heads: 4, causal: true },
        ],
      },
      {
        type: 'residual',
        name: `think-${block}`,
        body: [
          { type: 'layer-norm', name: 'norm' },
          { type: 'dense', name: 'up', units: 1024 },
          { type: 'gelu', name: 'gelu' },
          { type: 'dense', name: 'down', units: 256 },
        ],
      },
    ]),
    { type: 'layer-norm', name: 'norm' },
    { type: 'dense', name: 'head', units: 256, bias: false },
  ],
  loss: { type: 'cross-entropy' },
})

export async function subjects(): Promise<readonly Subject[]> {
  return [
    { name: 'mlp', graph: perceptron, batch: 64, steps: 20 },
    { name: 'gpt', graph: transformer, batch: 8, steps: 1 },
    { name: 'resnet18', graph: await resolveModel('resnet18'), batch: 16, steps: 1 },
  ]
}

const { optimizer, learningRate } = recipe.parse({})

/** A stage of the whole model. */
export const setupOf = ({ graph }: Subject): StageSetup => ({
  ...{ graph, optimizer, learningRate, seed: 0, memoryBudgetBytes: 0 },
  layers: [0, graph.layers.length],
})

/** Load the model with numbers as training starts from. */
export async function begin(engine: StageEngine, subject: Subject): Promise<void> {
  const setup = setupOf(subject)
  await engine.load(setup)
  await engine.writeState(initialState(setup.graph, setup.layers, 0))
}

/** A micro-batch of drawn numbers. */
export function batchOf({ graph, batch }: Subject): { input: HostTensor; labels: HostTensor } {
  const output = layoutOfGraph(graph).at(-1)?.outputShape ?? []
  return {
    input:
      graph.input.type === 'tokens'
        ? drawn('int32', [batch, graph.input.length], graph.input.vocabulary)
        : drawn('float32', [batch, ...graph.input.shape], 0),
    labels: drawn('int32', [batch, ...output.slice(0, -1)], output.at(-1) ?? 1),
  }
}

function drawn(dtype: 'float32' | 'int32', shape: readonly number[], below: number): HostTensor {
  const rng = createRng(1)
  const numbers = { length: elementCount(shape) }
  return dtype === 'int32'
    ? { dtype, shape, data: Int32Array.from(numbers, () => nextInt(rng, below)) }
    : { dtype, shape, data: Float32Array.from(numbers, () => nextNormal(rng)) }
}

/** Somebody who trains a subject. */
export interface Runner {
  readonly name: string
  /** @returns milliseconds of so many steps */
  readonly run: (steps: number) => Promise<number>
  readonly stop: () => Promise<unknown>
}
