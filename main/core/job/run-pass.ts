/** A run of a model's layers as a stage, and passes through it that teach nothing but take as long as any. */
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../shared/model/layout.ts'
import { createRng, nextNormal } from '../../../shared/random.ts'
import { elementCount, floatTensor } from '../../../shared/tensor.ts'
import { initialState } from '../model/initial-state.ts'
import type { StageEngine } from '../ports.ts'
import { makeBatch } from './benchmark.ts'

/** Updates are made once in so many micro-batches, where the recipe leaves it to the plan. */
export const usualAccumulate = 4

/** As much of an engine as such passes take. */
export type PassEngine = Pick<
  StageEngine,
  'load' | 'writeState' | 'forward' | 'forwardLoss' | 'backward' | 'update' | 'unload'
>

export interface ModelRun {
  readonly graph: ModelGraph
  readonly recipe: Recipe
  readonly layers: LayerRange
  /** Of a micro-batch. */
  readonly samples: number
}

/**
 * The engine keeps what it needs for the backward pass, and this stage, after it.
 *
 * @returns a micro-batch forward and backward, by its number
 * @throws what the engine throws
 */
export async function loadRun(
  engine: PassEngine,
  { graph, recipe, layers, samples }: ModelRun,
): Promise<(microBatch: number) => Promise<void>> {
  const [from, to] = layers
  const batch = makeBatch(graph, samples)
  const shape = [samples, ...(layoutOfGraph(graph)[from]?.inputShape ?? [])]
  const rng = createRng(0)
  const random = () =>
    floatTensor(
      Float32Array.from({ length: elementCount(shape) }, () => nextNormal(rng)),
      shape,
    )
  const input = from === 0 ? batch.input : random()
  await engine.load({
    ...{ graph, layers, optimizer: recipe.optimizer, learningRate: recipe.learningRate, seed: 0 },
    ...{ memoryBudgetBytes: 0, recompute: false },
  })
  await engine.writeState(initialState(graph, layers, 0))
  return async (microBatch) => {
    const request = { microBatch, input, predictUpdates: 0 }
    if (to === graph.layers.length) await engine.forwardLoss({ ...request, labels: batch.labels })
    // Its output as its gradient teaches nothing, but it takes as long.
    else await engine.backward(microBatch, await engine.forward(request))
  }
}
