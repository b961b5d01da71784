/** A model in the middle of its training: what a stage hands over, and the whole that its parts make. */
import type { Optimizer } from '../../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import { copyInTurns, type Rest } from '../model/copy-in-turns.ts'
import { momentsOf } from '../model/profile.ts'
import { joinStates } from '../model/state.ts'
import type { StageEngine, StateVector } from '../ports.ts'

/** How far a model is: updates of each cluster, samples of all. */
export type Trained = Header<'assignment'>['from']

export const untrained: Trained = { updates: 0, samples: 0, lost: 0, doubled: 0, cuts: [] }

export interface Checkpoint {
  readonly trained: Trained
  /** Of the whole model: its numbers, then each moment of the optimizer, whose untrained places are 0. */
  readonly vectors: readonly StateVector[]
}

/** How long the numbers of a stage are on the wire. In elements. */
export function numbersLength(
  graph: ModelGraph,
  layers: LayerRange,
  optimizer: Optimizer | undefined,
): number {
  const { length } = stateLayout(layoutOfGraph(graph), layers)
  return length * vectorsOf(optimizer)
}

const vectorsOf = (optimizer: Optimizer | undefined): number =>
  optimizer === undefined ? 1 : 1 + momentsOf(optimizer)

/**
 * Everything a stage knows: its numbers, then each moment, as long again. Both are asked for at once, so that no update
 * comes between them.
 * @param rest - lets others have their turn
 */
export async function readNumbers(engine: StageEngine, layers: LayerRange, rest: Rest): Promise<StateVector> {
  const [{ values }, { moments }] = await Promise.all([engine.readState(layers), engine.readOptimizer()])
  const numbers = new Float32Array(values.length * (1 + moments.length))
  for (const [index, vector] of [values, ...moments].entries())
    await copyInTurns(numbers, vector, values.length * index, rest)
  return { layers, values: numbers }
}

export interface NumbersToWrite {
  readonly graph: ModelGraph
  readonly optimizer: Optimizer
  readonly updates: number
}

/** Give a stage what `readNumbers` read, and its update count. @throws DeviceMemoryError */
export async function writeNumbers(
  engine: StageEngine,
  { layers, values }: StateVector,
  { graph, optimizer, updates }: NumbersToWrite,
): Promise<void> {
  const { length, trainedLength } = stateLayout(layoutOfGraph(graph), layers)
  await engine.writeState({ layers, values: values.subarray(0, length) })
  const moments = Array.from({ length: momentsOf(optimizer) }, (_, index) => {
    const at = length * (index + 1)
    return values.subarray(at, at + trainedLength)
  })
  await engine.writeOptimizer({ updates, moments })
}

/** The whole model from what its stages handed over. @throws InvariantError when they do not tile its layers */
export async function joinNumbers(
  graph: ModelGraph,
  parts: readonly StateVector[],
  rest: Rest,
): Promise<readonly StateVector[]> {
  const layouts = layoutOfGraph(graph)
  const lengths = parts.map(({ layers }) => stateLayout(layouts, layers).length)
  const vectors = Math.round((parts[0]?.values.length ?? 0) / Math.max(1, lengths[0] ?? 0))
  const joined: StateVector[] = []
  for (let vector = 0; vector < vectors; vector++) {
    const own = parts.map(({ layers, values }, index) => {
      const length = lengths[index] ?? 0
      return { layers, values: values.subarray(length * vector, length * (vector + 1)) }
    })
    joined.push(await joinStates(graph, own, rest))
  }
  return joined
}
