/** What each layer of a graph needs of a peer: the numbers that the planner plans with. */
import type { Optimizer, Recipe } from '../../../shared/job/recipe.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import type { LayerProfile, ModelProfile } from '../../../shared/plan/pool.ts'
import { elementCount } from '../../../shared/tensor.ts'
import { bytesPerFloat } from '../../../shared/units.ts'
import { layerCost } from './layer-cost.ts'

/** What a plan keeps in flight at the most where the recipe does not say: stages are planned to hold so much. */
export const mostInFlight = 8
/** β: our engines run the forward pass again in the backward pass. */
const backwardFactor = 3
/** log-softmax, its exponential, the labels as vectors, the gradient, and the mean’s. */
const lossOutputs = 5
/** Tensors of a parameter’s size that live for a moment while the optimizer steps it, beyond those that stay. */
const stepTensors = 6

/** Schedule numbers to plan with where the recipe leaves them to the plan. */
export interface AssumedSchedule {
  readonly inFlight: number
  readonly accumulate: number
}

/**
 * The profile of a checked graph under a recipe.
 *
 * The planner counts micro-batch · in flight · Σ working bytes for a stage. Our engines keep of each micro-batch in
 * flight only the stage's input and recompute the rest, for one micro-batch at a time. So a layer's working bytes
 * are its input (any layer may be a stage's first) plus its share 1/K of what one backward pass keeps, or of the
 * optimizer's scratch where that is more (the two never live at once): linear numbers that bound the truth for every
 * stage; near for stages of one layer, generous for longer ones.
 */
export function profileOf(
  graph: ModelGraph,
  recipe: Recipe,
  assumed: AssumedSchedule = { inFlight: mostInFlight, accumulate: 4 },
): ModelProfile {
  const inFlight = recipe.schedule.inFlight ?? assumed.inFlight
  const layouts = layoutOfGraph(graph)
  const layers = graph.layers.map((layer, index): LayerProfile => {
    const { inputShape = [], outputShape = [], parameters = [] } = layouts[index] ?? {}
    const outputs = elementCount(outputShape)
    const { flops, keptElements } = layerCost(layer, inputShape)
    const kept = keptElements + (index === graph.layers.length - 1 ? lossOutputs * outputs : 0)
    const parameterBytes = bytesPerFloat * parameters.reduce((sum, spec) => sum + elementCount(spec.shape), 0)
    const scratch = (stepTensors * parameterBytes) / recipe.schedule.microBatch
    return {
      name: layer.name,
      parameterBytes,
      activationBytesPerSample: bytesPerFloat * outputs,
      workingBytesPerSample: Math.ceil(
        bytesPerFloat * elementCount(inputShape) + Math.max(bytesPerFloat * kept, scratch) / inFlight,
      ),
      flopsPerSample: flops,
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
  }
}

/** Copies of the weights beside the newest: gradient sum, moments, a stashed and a predicted version, one pass's gradients. */
function stateFactorOf(optimizer: Optimizer): number {
  return 1 + momentsOf(optimizer) + 2 + 1
}

/** Vectors that an optimizer remembers beside the weights. */
export function momentsOf(optimizer: Optimizer): number {
  return optimizer.type === 'sgd' ? (optimizer.momentum > 0 ? 1 : 0) : 2
}
