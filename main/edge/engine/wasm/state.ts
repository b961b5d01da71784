/** The numbers of a stage and of its optimizer as vectors, in the layout of `shared/model/layout.ts`. */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { stateLayout } from '../../../../shared/model/layout.ts'
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { StateVector } from '../../../core/ports.ts'
import { checkWithin } from '../checks.ts'
import type { Stage } from './stage.ts'

/** What `readOptimizer` gives: each moment one vector over the trained parameters. */
export interface OptimizerState {
  readonly updates: number
  readonly moments: readonly Float32Array[]
}

/** Copy of the numbers of a run of layers. @throws InvalidInputError when the stage does not hold them */
export function readState(stage: Stage, layers: LayerRange): StateVector {
  const { heap, weights, running } = stage
  const { trained, untrained } = partOf(stage, layers)
  const values = new Float32Array(trained.length + untrained.length)
  const copy = (address: number, part: Part, to: number) => {
    values.set(heap.floats(address + part.offset * bytesPerFloat, part.length), to)
  }
  copy(weights.newest.address, trained, 0)
  copy(running.address, untrained, trained.length)
  return { layers, values }
}

/**
 * Write the numbers of a run of layers, or add to them.
 *
 * @throws InvalidInputError when the stage does not hold these layers or the length is not theirs, DeviceMemoryError;
 *   nothing changed
 */
export function writeState(stage: Stage, { layers, values }: StateVector, adds: boolean): void {
  const { heap, weights, updater, running, shape } = stage
  const { trained, untrained } = partOf(stage, layers)
  checkLength(values, trained.length + untrained.length)
  const put = (address: number, part: Part, from: number) => {
    const numbers = heap.floats(address + part.offset * bytesPerFloat, part.length)
    const given = values.subarray(from, from + part.length)
    if (!adds) numbers.set(given)
    // By index: an iterator of a typed array takes twenty times as long, and training waits.
    else
      for (let index = 0; index < given.length; index++)
        numbers[index] = (numbers[index] ?? 0) + (given[index] ?? 0)
  }
  updater.forgetPrediction()
  const length = shape.layout.trainedLength
  weights.advance((before, next) => {
    if (next !== before) heap.floats(next, length).set(heap.floats(before, length))
    put(next, trained, 0)
  })
  put(running.address, untrained, trained.length)
}

export function readOptimizer({ heap, updater, shape }: Stage): OptimizerState {
  const { trainedLength } = shape.layout
  const moments = updater.moments.map(({ address }) => heap.floats(address, trainedLength).slice())
  return { updates: updater.updates, moments }
}

/** @throws InvalidInputError when this is not the memory of such an optimizer; nothing changed */
export function writeOptimizer({ heap, updater, shape }: Stage, state: OptimizerState): void {
  const own = updater.moments
  if (state.moments.length !== own.length || !Number.isInteger(state.updates) || state.updates < 0)
    throw new InvalidInputError(
      `the optimizer's memory has ${state.moments.length} vectors after ${state.updates} updates; ${shape.setup.optimizer.type} keeps ${own.length}`,
    )
  for (const moment of state.moments) checkLength(moment, shape.layout.trainedLength)
  updater.forgetPrediction()
  updater.updates = state.updates
  for (const [index, { address }] of own.entries()) {
    const moment = state.moments[index]
    if (moment) heap.floats(address, moment.length).set(moment)
  }
}

/** A contiguous part of the trained or the untrained numbers, in elements. */
interface Part {
  readonly offset: number
  readonly length: number
}

/** Layers lie in order, so the numbers of a run are two contiguous parts of the stage's. */
function partOf({ shape }: Stage, layers: LayerRange): { trained: Part; untrained: Part } {
  const [from] = shape.setup.layers
  checkWithin(layers, shape.setup.layers)
  const own = stateLayout(shape.layouts, layers)
  const before = layers[0] > from ? stateLayout(shape.layouts, [from, layers[0]]) : undefined
  const untrainedBefore = before === undefined ? 0 : before.length - before.trainedLength
  return {
    trained: { offset: before?.trainedLength ?? 0, length: own.trainedLength },
    untrained: { offset: untrainedBefore, length: own.length - own.trainedLength },
  }
}

function checkLength(values: Float32Array, length: number): void {
  if (values.length !== length)
    throw new InvalidInputError(`these layers have ${length} numbers, but ${values.length} were given`)
}
