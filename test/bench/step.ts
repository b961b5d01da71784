/**
 * A whole step (forward, loss, backward, update) of three models: TensorFlow.js's wasm backend and our own kernels on
 * one thread, and those on two; medians of interleaved rounds after warm-up, so that ratios are of one run.
 * `npm run bench -- step [--json]`. PyTorch's CPU beside them where python3-torch is installed.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { resolveModel } from '../../main/agent/models.ts'
import { initialState } from '../../main/core/model/initial-state.ts'
import type { StageEngine } from '../../main/core/ports.ts'
import { createTfjsEngine } from '../../main/edge/engine/tfjs/stage-engine.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import { recipe } from '../../shared/job/recipe.ts'
import { type ModelGraph, modelGraph } from '../../shared/model/graph.ts'
import { layoutOfGraph } from '../../shared/model/layout.ts'
import { createRng, nextInt, nextNormal } from '../../shared/random.ts'
import { type HostTensor, elementCount } from '../../shared/tensor.ts'

const warmUps = 2
const rounds = 11

interface Subject {
  readonly name: string
  readonly graph: ModelGraph
  readonly batch: number
}

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

/** One engine on one model, its milliseconds a step so far. */
interface Runner {
  readonly name: string
  readonly step: () => Promise<void>
  readonly times: number[]
}

function tensor(dtype: 'float32' | 'int32', shape: readonly number[], below: number): HostTensor {
  const rng = createRng(1)
  const numbers = { length: elementCount(shape) }
  return dtype === 'int32'
    ? { dtype, shape, data: Int32Array.from(numbers, () => nextInt(rng, below)) }
    : { dtype, shape, data: Float32Array.from(numbers, () => nextNormal(rng)) }
}

async function runnerOf(name: string, engine: StageEngine, { graph, batch }: Subject): Promise<Runner> {
  const { optimizer, learningRate } = recipe.parse({})
  const layers = [0, graph.layers.length] as const
  await engine.load({ graph, layers, optimizer, learningRate, seed: 0, memoryBudgetBytes: 0 })
  await engine.writeState(initialState(graph, layers, 0))
  const output = layoutOfGraph(graph).at(-1)?.outputShape ?? []
  const input =
    graph.input.type === 'tokens'
      ? tensor('int32', [batch, graph.input.length], graph.input.vocabulary)
      : tensor('float32', [batch, ...graph.input.shape], 0)
  const labels = tensor('int32', [batch, ...output.slice(0, -1)], output.at(-1) ?? 1)
  let microBatch = 0
  return {
    name,
    times: [],
    async step() {
      await engine.forwardLoss({ microBatch: microBatch++, input, labels, predictUpdates: 0 })
      await engine.update()
    },
  }
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

/** Rounds of one step an engine, in turn, so that what else the machine does meets them alike. */
async function timesOf(subject: Subject, engines: ReadonlyMap<string, StageEngine>) {
  const runners = await Promise.all([...engines].map(([name, engine]) => runnerOf(name, engine, subject)))
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const { step, times } of runners) {
      const before = performance.now()
      await step()
      if (round >= warmUps) times.push(performance.now() - before)
    }
  }
  await Promise.all([...engines.values()].map((engine) => engine.unload()))
  return new Map(runners.map(({ name, times }) => [name, median(times)]))
}

export async function benchStep(): Promise<Record<string, number>> {
  const subjects: readonly Subject[] = [
    { name: 'mlp', graph: perceptron, batch: 64 },
    { name: 'resnet18', graph: await resolveModel('resnet18'), batch: 16 },
    { name: 'gpt', graph: transformer, batch: 8 },
  ]
  const engines = new Map<string, StageEngine>([
    ['tfjs', await createTfjsEngine({ backend: 'wasm' })],
    ['narrow', createWasmEngine({ kernels: 'narrow', threads: 1 })],
    ['wide', createWasmEngine({ kernels: 'wide', threads: 1 })],
    ['wide on two threads', createWasmEngine({ kernels: 'wide', threads: 2 })],
  ])
  const figures: Record<string, number> = {}
  for (const subject of subjects) {
    const times = await timesOf(subject, engines)
    for (const [name, milliseconds] of times) figures[`${subject.name} ${name} ms`] = milliseconds
    for (const name of ['narrow', 'wide', 'wide on two threads'])
      figures[`${subject.name} tfjs / ${name}`] = (times.get('tfjs') ?? NaN) / (times.get(name) ?? NaN)
    Object.assign(figures, torchTimes(subject.name))
  }
  return figures
}

/** PyTorch's milliseconds on the same shapes and one thread; says so where it is not installed. */
function torchTimes(subject: string): Record<string, number> {
  const script = join(import.meta.dirname, 'step-torch.py')
  const { status, stdout } = spawnSync('python3', [script, subject, String(rounds)], { encoding: 'utf8' })
  if (status === 0) return { [`${subject} torch ms`]: Number(stdout) }
  process.stderr.write(`${subject}: no PyTorch here (python3-torch), so nothing to compare with\n`)
  return {}
}
