/** Cutting the numbers of a run of layers out of a longer run, and putting runs together again. */
import { InvariantError } from '../../../shared/errors.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { type LayerLayout, layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import type { StateVector } from '../ports.ts'
import { copyInTurns, type Rest } from './copy-in-turns.ts'

/** How many numbers of a run are trained, and how many are not. In elements. */
function lengthsOf(layouts: readonly LayerLayout[], layers: LayerRange) {
  const { trainedLength, length } = stateLayout(layouts, layers)
  return { trained: trainedLength, untrained: length - trainedLength }
}

function checkLength(layouts: readonly LayerLayout[], { layers, values }: StateVector): void {
  const [from, to] = layers
  if (from < 0 || to < from || to > layouts.length)
    throw new InvariantError(`layers [${from}, ${to}) are not in a model of ${layouts.length} layers`)
  const { length } = stateLayout(layouts, layers)
  if (values.length !== length)
    throw new InvariantError(`layers [${from}, ${to}) have ${length} numbers, not ${values.length}`)
}

/**
 * A copy of the numbers of `layers` out of any state that holds them.
 *
 * @throws InvariantError when `source` does not hold these layers or has a wrong length
 */
export function sliceState(graph: ModelGraph, source: StateVector, layers: LayerRange): StateVector {
  const layouts = layoutOfGraph(graph)
  checkLength(layouts, source)
  const [from, to] = layers
  if (from < source.layers[0] || to > source.layers[1] || from > to)
    throw new InvariantError(
      `layers [${from}, ${to}) are not within [${source.layers[0]}, ${source.layers[1]})`,
    )
  const whole = lengthsOf(layouts, source.layers)
  const before = lengthsOf(layouts, [source.layers[0], from])
  const run = lengthsOf(layouts, layers)
  const values = new Float32Array(run.trained + run.untrained)
  values.set(source.values.subarray(before.trained, before.trained + run.trained))
  const untrainedAt = whole.trained + before.untrained
  values.set(source.values.subarray(untrainedAt, untrainedAt + run.untrained), run.trained)
  return { layers, values }
}

/**
 * The numbers of the whole model, from parts that tile its layers. Parts may come in any order.
 *
 * @param rest - lets others have their turn
 * @throws InvariantError when parts overlap, leave a gap, or have a wrong length
 */
export async function joinStates(
  graph: ModelGraph,
  parts: readonly StateVector[],
  rest: Rest,
): Promise<StateVector> {
  const layouts = layoutOfGraph(graph)
  const layers: LayerRange = [0, layouts.length]
  const { trainedLength, length } = stateLayout(layouts, layers)
  const values = new Float32Array(length)
  let next = 0
  let trainedAt = 0
  let untrainedAt = trainedLength
  for (const part of parts.toSorted((a, b) => a.layers[0] - b.layers[0] || a.layers[1] - b.layers[1])) {
    checkLength(layouts, part)
    if (part.layers[0] !== next)
      throw new InvariantError(`layers come from ${next} on, but the next part starts at ${part.layers[0]}`)
    next = part.layers[1]
    const run = lengthsOf(layouts, part.layers)
    await copyInTurns(values, part.values.subarray(0, run.trained), trainedAt, rest)
    await copyInTurns(values, part.values.subarray(run.trained), untrainedAt, rest)
    trainedAt += run.trained
    untrainedAt += run.untrained
  }
  if (next !== layouts.length) throw new InvariantError(`the parts end at layer ${next} of ${layouts.length}`)
  return { layers, values }
}
