/** What each layer of a graph needs of a peer: the numbers that the planner plans with. */
import type { Optimizer, Recipe } from '../../../shared/job/recipe.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import type { LayerProfile, ModelProfile } from '../../../shared/plan/pool.ts'
import { elementCount } from '../../../shared/tensor.ts'
import { type Flops, bytesPerFloat } from '../../../shared/units.ts'
import { layerCost, leavesOutputFree } from './layer-cost.ts'

/** What a plan keeps in flight at the most where the recipe does not say: stages are planned to hold so much. */
export const mostInFlight = 8
/** β where the backward pass runs the forward pass again, and where it has what it needs. */
const backwardFactor = 3
const keepingBackwardFactor = 2
/** TensorFlow.js: log-softmax, its exponential, the labels as vectors, the gradient, and the mean’s. */
const tapedLossOutputs = 5
/** TensorFlow.js: tensors of a parameter’s size that live for a moment while the optimizer steps it, beyond those that stay. */
const stepTensors = 6

/** The same profile with what its layers take as measured. @param flops - of a sample, a number a layer; absent: no change */
export function withFlops(profile: ModelProfile, flops: readonly Flops[] | undefined): ModelProfile {
  if (flops === undefined) return profile
  const layers = profile.layers.map((layer, index) => ({
    ...layer,
    flopsPerSample: flops[index] ?? layer.flopsPerSample,
  }))
  return { ...profile, layers }
}

/** Schedule numbers to plan with where the recipe leaves them to the plan. */
export interface AssumedSchedule {
  readonly inFlight: number
  readonly accumulate: number
}

/**
 * The profile of a checked graph under a recipe, on our own kernels: linear numbers that bound the truth for every stage.
 *
 * A stage that recomputes keeps of each micro-batch in flight only its input, and does the rest for one at a time. So a
 * layer's working bytes are its input (any layer may be a stage's first) plus its share 1/K of what one pass takes: near
 * for stages of one layer, generous for longer ones. A stage that keeps takes `kept` of each of its layers for every
 * micro-batch in flight, the input of the first, and one backward pass. The last stage has one at a time and keeps it.
 */
export function profileOf(
  graph: ModelGraph,
  recipe: Recipe,
  assumed: AssumedSchedule = { inFlight: mostInFlight, accumulate: 4 },
): ModelProfile {
  const inFlight = recipe.schedule.inFlight ?? assumed.inFlight
  const layers = layersOf(graph).map(({ cost, inputs, outputs, parameterBytes, ...layer }): LayerProfile => {
    const scratch = cost.scratch + (layer.isLast ? lossScratch(graph, outputs) : 0)
    // On its own it is a stage's first, and nothing computes in the place of a stage's input.
    const pass = inputs + layer.costAtStart.kept + scratch
    return {
      name: layer.name,
      parameterBytes,
      activationBytesPerSample: bytesPerFloat * outputs,
      workingBytesPerSample: Math.ceil(bytesPerFloat * (inputs + pass / inFlight)),
      keptBytesPerSample: Math.ceil(bytesPerFloat * (cost.kept + scratch / inFlight)),
      entryBytesPerSample: bytesPerFloat * (inputs + layer.costAtStart.kept - cost.kept),
      flopsPerSample: cost.flops,
    }
  })
  return {
    name: graph.name,
    layers,
    stateFactor: stateFactorOf(recipe.optimizer),
    microBatch: recipe.schedule.microBatch,
    inFlight,
    accumulate: recipe.schedule.accumulate ?? assumed.accumulate,
    averageEveryUpdates: recipe.sync.averageEveryUpdates,
    backwardFactor,
    codec: recipe.codec,
    keepingBackwardFactor,
  }
}

/**
 * How many times the memory of this profile a stage takes at most on TensorFlow.js, which always recomputes: it holds
 * every intermediate result as a tensor of its own, and the gradients of a pass beside their sum.
 */
export function tapedMemoryFactor(graph: ModelGraph, recipe: Recipe, assumed?: AssumedSchedule): number {
  const profile = profileOf(graph, recipe, assumed)
  const { microBatch, inFlight, stateFactor } = profile
  const factors = layersOf(graph).map(({ cost, inputs, outputs, parameterBytes, isLast }, index) => {
    const taped = bytesPerFloat * (cost.taped + (isLast ? tapedLossOutputs * outputs : 0))
    // The optimizer's scratch and a backward pass never live at once.
    const once = Math.max(microBatch * taped, stepTensors * parameterBytes)
    const kept = microBatch * inFlight * bytesPerFloat * inputs
    const own = microBatch * inFlight * (profile.layers[index]?.workingBytesPerSample ?? 0)
    return (parameterBytes * (2 + stateFactor) + kept + once) / (parameterBytes * (1 + stateFactor) + own)
  })
  return Math.max(...factors)
}

/** Own kernels: targets of the output's size, or a label and three numbers seen of it a row. In elements of a sample. */
function lossScratch(graph: ModelGraph, outputs: number): number {
  if (graph.loss.type === 'mean-squared-error') return outputs
  const classes = layoutOfGraph(graph).at(-1)?.outputShape.at(-1) ?? 1
  return (4 * outputs) / classes
}

/** What both engines' numbers are made of, layer by layer. */
function layersOf(graph: ModelGraph) {
  const layouts = layoutOfGraph(graph)
  let outputIsFree = false
  return graph.layers.map((layer, index) => {
    const { inputShape = [], outputShape = [], parameters = [] } = layouts[index] ?? {}
    const cost = layerCost(layer, inputShape, outputIsFree)
    outputIsFree = leavesOutputFree(layer, outputIsFree)
    return {
      name: layer.name,
      cost,
      /** Where it is a stage's first. */
      costAtStart: layerCost(layer, inputShape),
      inputs: elementCount(inputShape),
      outputs: elementCount(outputShape),
      parameterBytes: bytesPerFloat * parameters.reduce((sum, spec) => sum + elementCount(spec.shape), 0),
      isLast: index === graph.layers.length - 1,
    }
  })
}

/** Copies of the weights beside the newest: gradient sum, moments, a stashed and a predicted version; LAMB's way of one. */
function stateFactorOf(optimizer: Optimizer): number {
  return 1 + momentsOf(optimizer) + 2 + (optimizer.type === 'lamb' ? 1 : 0)
}

/** Vectors that an optimizer remembers beside the weights. */
export function momentsOf(optimizer: Optimizer): number {
  return optimizer.type === 'sgd' ? (optimizer.momentum > 0 ? 1 : 0) : 2
}
