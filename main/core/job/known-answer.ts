/** Does an engine compute what it should? Real training steps of two tiny stages, against stored answers. */
import { recipe } from '../../../shared/job/recipe.ts'
import { type ModelGraph, modelGraph } from '../../../shared/model/graph.ts'
import { createRng, nextInt, nextNormal, seedFrom } from '../../../shared/random.ts'
import { type HostTensor, elementCount, floatTensor } from '../../../shared/tensor.ts'
import { initialState } from '../model/initial-state.ts'
import type { StageEngine } from '../ports.ts'

/** Graphics cards round otherwise than processors; a wrong kernel is off by far more. */
const tolerance = 2e-3
const samples = 3

/** What two updates give: the mean loss of the second, its gradient's norm, and the weights after it, each times a number. */
interface Answer {
  readonly loss: number
  readonly gradientNorm: number
  readonly weights: number
}

interface Question {
  readonly graph: ModelGraph
  readonly answer: Answer
}

const image = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'known-image',
  task: 'classify',
  input: { type: 'values', shape: [8, 8, 3] },
  layers: [
    { type: 'conv2d', name: 'conv-1', filters: 8, kernel: 3, bias: false },
    { type: 'batch-norm', name: 'norm-1' },
    { type: 'relu', name: 'relu-1' },
    { type: 'conv2d', name: 'conv-2', filters: 12, kernel: 3, stride: 2 },
    { type: 'relu', name: 'relu-2' },
    { type: 'max-pool', name: 'pool', size: 2 },
    { type: 'flatten', name: 'flatten' },
    { type: 'dense', name: 'dense', units: 7 },
  ],
  loss: { type: 'cross-entropy' },
})

const text = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'known-text',
  task: 'next-token',
  input: { type: 'tokens', length: 9, vocabulary: 11 },
  layers: [
    { type: 'token-embedding', name: 'tokens', vocabulary: 11, width: 16 },
    { type: 'position-embedding', name: 'positions' },
    {
      type: 'residual',
      name: 'attention',
      body: [
        { type: 'layer-norm', name: 'norm' },
        { type: 'attention', name: 'attention', heads: 2, causal: true },
      ],
    },
    { type: 'dense', name: 'widen', units: 24 },
    { type: 'gelu', name: 'gelu' },
    { type: 'dense', name: 'head', units: 11 },
  ],
  loss: { type: 'cross-entropy' },
})

/** From TensorFlow.js's plain JavaScript backend, the reference of every engine's tests. */
const questions: readonly Question[] = [
  { graph: image, answer: { loss: 0.5337923, gradientNorm: 3.056781, weights: 101.0964 } },
  { graph: text, answer: { loss: 2.309678, gradientNorm: 0.3018014, weights: 59.79007 } },
]

/**
 * Ask an engine. It takes milliseconds on any engine that is of use; a stage that it holds is given up.
 *
 * @returns undefined when it is right; else what is wrong, in one sentence
 */
export async function whyWrong(engine: StageEngine): Promise<string | undefined> {
  for (const { graph, answer } of questions) {
    const given = await answerOf(engine, graph)
    const differs = (Object.keys(answer) as (keyof Answer)[]).find(
      (key) => !(Math.abs(given[key] - answer[key]) <= tolerance * Math.abs(answer[key])),
    )
    if (differs === undefined) continue
    return `It computes wrongly: two training steps of ${graph.name} give ${words[differs]} ${round(given[differs])}, not ${round(answer[differs])}.`
  }
  return undefined
}

const words: Readonly<Record<keyof Answer, string>> = {
  loss: 'a loss of',
  gradientNorm: 'a gradient of norm',
  weights: 'weights that add up to',
}
const round = (value: number) => Number(value.toPrecision(5))

async function answerOf(engine: StageEngine, graph: ModelGraph): Promise<Answer> {
  const layers = [0, graph.layers.length] as const
  const { learningRate, optimizer } = recipe.parse({ optimizer: { type: 'adam', learningRate: 0.01 } })
  try {
    await engine.load({ graph, layers, optimizer, learningRate, seed: 0, memoryBudgetBytes: 0 })
    await engine.writeState(initialState(graph, layers, 1))
    const batch = batchOf(graph)
    await engine.forwardLoss({ microBatch: 0, ...batch, predictUpdates: 0 })
    await engine.update()
    const { tally } = await engine.forwardLoss({ microBatch: 1, ...batch, predictUpdates: 1 })
    const { gradientNorm } = await engine.update()
    const { values } = await engine.readState(layers)
    return { loss: tally.lossSum / tally.labels, gradientNorm, weights: weighed(values) }
  } finally {
    await engine.unload()
  }
}

/** A sum in which every number counts differently. */
function weighed(values: Float32Array): number {
  return values.reduce(
    (sum, value, index) => sum + value * (1 + (index % 13)) * (index % 3 === 0 ? -1 : 1),
    0,
  )
}

function batchOf(graph: ModelGraph): { readonly input: HostTensor; readonly labels: HostTensor } {
  const rng = createRng(seedFrom('known answer', graph.name))
  const integers = (shape: readonly number[], below: number): HostTensor => {
    const data = Int32Array.from({ length: elementCount(shape) }, () => nextInt(rng, below))
    return { dtype: 'int32', shape, data }
  }
  if (graph.input.type === 'tokens') {
    const shape = [samples, graph.input.length]
    return { input: integers(shape, graph.input.vocabulary), labels: integers(shape, graph.input.vocabulary) }
  }
  const shape = [samples, ...graph.input.shape]
  const data = Float32Array.from({ length: elementCount(shape) }, () => nextNormal(rng))
  return { input: floatTensor(data, shape), labels: integers([samples], 7) }
}
