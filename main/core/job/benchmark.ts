/** How fast an engine trains: the speed F of the cost model, measured on whole steps of a real stage. */
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import { type Recipe, recipe } from '../../../shared/job/recipe.ts'
import { median } from '../../../shared/median.ts'
import { type LayerRange, type ModelGraph, modelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { createRng, nextInt, nextNormal, seedFrom } from '../../../shared/random.ts'
import { type HostTensor, elementCount, floatTensor } from '../../../shared/tensor.ts'
import { type Flops, type FlopsPerSecond, type Millis, second } from '../../../shared/units.ts'
import { initialState } from '../model/initial-state.ts'
import { profileOf } from '../model/profile.ts'
import type { Clock, StageEngine } from '../ports.ts'

/** Samples of a measured step; one where even a single sample is slow, as on plain JavaScript. */
const microBatch = 8
const slowStep: Millis = second / 10
/** β where the leaf computes loss and backward in one go, nothing recomputed: the backward is two forwards. */
const backwardFactor = 2

interface StepLimits {
  readonly least: number
  readonly most: number
  readonly budget: Millis
}
/** The first steps, of one sample, compile kernels and fill caches: one at least, more while they are quick. */
const warmUp: StepLimits = { least: 1, most: 3, budget: second / 4 }
/** A slow engine gets by with three. */
const measured: StepLimits = { least: 3, most: 50, budget: (3 * second) / 4 }

/** Two convolutions and two dense layers: 8.7 MFLOP a sample and training step, 69 a step. */
const builtIn: ModelGraph = modelGraph.parse({
  format: 'rookery-model/1',
  name: 'benchmark',
  task: 'classify',
  input: { type: 'values', shape: [16, 16, 8] },
  layers: [
    { type: 'conv2d', name: 'conv-1', filters: 32, kernel: 3 }, // [16, 16, 32]
    { type: 'relu', name: 'relu-1' },
    { type: 'conv2d', name: 'conv-2', filters: 32, kernel: 3, stride: 2 }, // [8, 8, 32]
    { type: 'relu', name: 'relu-2' },
    { type: 'flatten', name: 'flatten' }, // [2048]
    { type: 'dense', name: 'dense-1', units: 128 },
    { type: 'relu', name: 'relu-3' },
    { type: 'dense', name: 'dense-2', units: 10 },
  ],
  loss: { type: 'cross-entropy' },
})

/**
 * Measure the speed of an engine: the median over whole training steps (forward, loss, backward, update) of a
 * model held in one stage. Takes about a second of engine time, or one step of one sample where that alone takes longer. The engine's stage is unloaded afterwards.
 *
 * Counted as the planner counts: a multiply-add is two FLOPs, a training step is (1 + β) forwards with β = 2. What
 * else a step costs (activations, optimizer, calls) is time without FLOPs, as it is in a real job.
 *
 * @param request.graph - measured instead of the built-in model
 * @returns a positive, finite number
 * @throws InvalidInputError when the graph has no layer that computes; InvariantError when the engine's steps take
 *   no measurable time or do not train
 */
export async function measureSpeed(request: {
  readonly engine: StageEngine
  readonly clock: Clock
  readonly graph?: ModelGraph
}): Promise<FlopsPerSecond> {
  const { engine, clock, graph = builtIn } = request
  const flopsPerSample = trainingFlops(graph, recipe.parse({}))
  try {
    await loadWhole(engine, graph)
    const { samples, times } = await timeSteps({ engine, clock, batchOf: (size) => makeBatch(graph, size) })
    return speedOf(samples * flopsPerSample, times, engine.backend)
  } finally {
    await engine.unload()
  }
}

/** In one stage. */
async function loadWhole(engine: StageEngine, graph: ModelGraph): Promise<void> {
  const { optimizer, learningRate } = recipe.parse({})
  const layers: LayerRange = [0, graph.layers.length]
  await engine.load({ graph, layers, optimizer, learningRate, seed: 0, memoryBudgetBytes: 0 })
  await engine.writeState(initialState(graph, layers, 0))
}

/** Of one sample and step. @throws InvalidInputError when there is nothing to count */
function trainingFlops(graph: ModelGraph, settings: Recipe): Flops {
  const forward = profileOf(graph, settings).layers.reduce((sum, layer) => sum + layer.flopsPerSample, 0)
  if (forward > 0) return forward * (1 + backwardFactor)
  throw new InvalidInputError(
    `model "${graph.name}" has no layer that computes (dense, conv2d, attention): it measures no speed`,
  )
}

interface Batch {
  readonly input: HostTensor
  readonly labels: HostTensor
}

interface Timing {
  readonly engine: StageEngine
  readonly clock: Clock
  readonly batchOf: (samples: number) => Batch
}

/** Milliseconds of each measured step, and the samples in one. */
async function timeSteps({ engine, clock, batchOf }: Timing) {
  let step = 0
  const repeat = async (batch: Batch, { least, most, budget }: StepLimits) => {
    const began = clock.now()
    const times: Millis[] = []
    while (times.length < least || (times.length < most && clock.now() - began < budget)) {
      const before = clock.now()
      await trainStep(engine, batch, step++)
      times.push(clock.now() - before)
    }
    return times
  }
  const warm = await repeat(batchOf(1), warmUp)
  const last = warm.at(-1) ?? 0
  if (last >= measured.budget) return { samples: 1, times: warm }
  const samples = last > slowStep ? 1 : microBatch
  return { samples, times: await repeat(batchOf(samples), measured) }
}

async function trainStep(engine: StageEngine, batch: Batch, step: number): Promise<void> {
  const { tally } = await engine.forwardLoss({ microBatch: step, ...batch, predictUpdates: 0 })
  const { applied } = await engine.update()
  if (applied && Number.isFinite(tally.lossSum)) return
  throw new InvariantError(
    `backend ${engine.backend} computes numbers that are not finite: set engine.backend to another one`,
  )
}

/** @throws InvariantError for a clock that stood still or went back */
function speedOf(flops: Flops, times: readonly Millis[], backend: string): FlopsPerSecond {
  const stepMs = median(times)
  const speed = flops / (stepMs / second)
  if (stepMs > 0 && Number.isFinite(speed) && speed > 0) return speed
  throw new InvariantError(
    `the speed of backend ${backend} cannot be measured: the median of ${times.length} training steps took ${stepMs} ms`,
  )
}

/** Random samples [B, ...] with labels of the task's kind. */
export function makeBatch(graph: ModelGraph, samples: number): Batch {
  const rng = createRng(seedFrom('benchmark', graph.name))
  const output = layoutOfGraph(graph).at(-1)?.outputShape ?? []
  const integers = (shape: readonly number[], below: number): HostTensor => {
    const data = Int32Array.from({ length: elementCount(shape) }, () => nextInt(rng, below))
    return { dtype: 'int32', shape, data }
  }
  const floats = (shape: readonly number[]) =>
    floatTensor(
      Float32Array.from({ length: elementCount(shape) }, () => nextNormal(rng)),
      shape,
    )
  return {
    input:
      graph.input.type === 'tokens'
        ? integers([samples, graph.input.length], graph.input.vocabulary)
        : floats([samples, ...graph.input.shape]),
    labels:
      graph.loss.type === 'cross-entropy'
        ? integers([samples, ...output.slice(0, -1)], output.at(-1) ?? 1)
        : floats([samples, ...output]),
  }
}
