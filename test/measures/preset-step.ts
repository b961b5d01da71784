/** One whole training step of a model, and how far two engines differ in it. */
import { initialState } from '../../main/core/model/initial-state.ts'
import type { StageEngine } from '../../main/core/ports.ts'
import { learningRateSchedule, optimizer } from '../../shared/job/recipe.ts'
import type { ModelGraph } from '../../shared/model/graph.ts'
import { layoutOfGraph } from '../../shared/model/layout.ts'
import { createRng, nextInt, nextNormal } from '../../shared/random.ts'
import { elementCount, type HostTensor } from '../../shared/tensor.ts'

export interface Step {
  readonly lossSum: number
  /** By every number of the model, trained ones first; the running statistics' change where nothing is trained. */
  readonly gradient: Float32Array
}

/** Forward, loss, backward and SGD of rate 1, by which weights move by exactly their gradient. */
export async function stepOf(engine: StageEngine, graph: ModelGraph, batch: number): Promise<Step> {
  const layers = [0, graph.layers.length] as const
  await engine.load({
    graph,
    layers,
    optimizer: optimizer.parse({ type: 'sgd', learningRate: 1 }),
    learningRate: learningRateSchedule.parse({ type: 'constant' }),
    seed: 3,
    memoryBudgetBytes: 0,
  })
  const before = initialState(graph, layers, 3)
  await engine.writeState(before)
  const { tally } = await engine.forwardLoss({ microBatch: 0, ...batchOf(graph, batch), predictUpdates: 0 })
  await engine.update()
  const after = await engine.readState(layers)
  await engine.unload()
  return { lossSum: tally.lossSum, gradient: before.values.map((value, at) => value - after.values[at]!) }
}

/** Random inputs and labels that fit a model. */
export function batchOf(graph: ModelGraph, batch: number): { input: HostTensor; labels: HostTensor } {
  const rng = createRng(1)
  const ids = (shape: readonly number[], below: number): HostTensor => {
    const data = Int32Array.from({ length: elementCount(shape) }, () => nextInt(rng, below))
    return { dtype: 'int32', shape, data }
  }
  const output = layoutOfGraph(graph).at(-1)?.outputShape ?? []
  const labels = ids([batch, ...output.slice(0, -1)], output.at(-1) ?? 1)
  if (graph.input.type === 'tokens')
    return { input: ids([batch, graph.input.length], graph.input.vocabulary), labels }
  const shape = [batch, ...graph.input.shape]
  const data = Float32Array.from({ length: elementCount(shape) }, () => nextNormal(rng))
  return { input: { dtype: 'float32', shape, data }, labels }
}

/** How far a step is from another: the larger of the losses' and the gradients' difference, as a share of the latter. */
export function differenceOf(found: Step, wanted: Step): number {
  const apart = found.gradient.map((value, at) => value - wanted.gradient[at]!)
  return Math.max(
    Math.abs(found.lossSum - wanted.lossSum) / Math.abs(wanted.lossSum),
    norm(apart) / norm(wanted.gradient),
  )
}

const norm = (values: Float32Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))
