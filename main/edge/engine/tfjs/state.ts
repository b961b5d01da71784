/** The numbers of a stage and of its optimizer as vectors, in the layout of `shared/model/layout.ts`. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { InvalidInputError, InvariantError } from '../../../../shared/errors.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { type Placed, stateLayout } from '../../../../shared/model/layout.ts'
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { StateVector } from '../../../core/ports.ts'
import { checkWithin } from '../checks.ts'
import { download, upload } from './host-tensors.ts'
import type { Stage } from './stage.ts'

/** What `readOptimizer` gives: each moment one vector over the trained parameters. */
export interface OptimizerState {
  readonly updates: number
  readonly moments: readonly Float32Array[]
}

/** Copy of the numbers of a run of layers. @throws InvalidInputError when the stage does not hold them */
export async function readState(stage: Stage, layers: LayerRange): Promise<StateVector> {
  const layout = layoutWithin(stage, layers)
  const parameters = stage.weights.parametersOf(stage.weights.newest)
  const places = [...layout.trained, ...layout.untrained]
  const values = await gathered(places, layout.length, (name) => parameters.get(name))
  return { layers, values }
}

/**
 * Replace the numbers of a run of layers by what `combine` makes of the old and the given.
 *
 * @throws InvalidInputError when the stage does not hold these layers or the length is not theirs, DeviceMemoryError;
 *   nothing changed
 */
export function writeState(
  stage: Stage,
  { layers, values }: StateVector,
  combine: (before: Tensor, given: Tensor) => Tensor,
): void {
  const { weights, meter, prediction } = stage
  const layout = layoutWithin(stage, layers)
  checkLength(values, layout.length)
  const places = new Map([...layout.trained, ...layout.untrained].map((placed) => [placed.name, placed]))
  const next = ({ name }: Placed, before: Tensor): Tensor => {
    const placed = places.get(name)
    return placed === undefined ? before : tf.tidy(() => combine(before, part(values, placed)))
  }
  const largest = layout.trained.reduce((most, { length }) => Math.max(most, length), 0)
  meter.require(bytesPerFloat * (2 * largest + (weights.newestIsHeld ? layout.trainedLength : 0)))
  meter.settle(() => {
    prediction.forget()
    weights.advance(next)
    weights.advanceRunning(next)
  })
}

export async function readOptimizer({ shape, updater }: Stage): Promise<OptimizerState> {
  const { layout, rule } = shape
  const moments: Float32Array[] = []
  for (let index = 0; index < rule.moments; index++)
    moments.push(
      await gathered(layout.trained, layout.trainedLength, (name) => updater.moments.get(name)?.[index]),
    )
  return { updates: updater.updates, moments }
}

/** @throws InvalidInputError when this is not the memory of such an optimizer; nothing changed */
export function writeOptimizer({ shape, updater, meter, prediction }: Stage, state: OptimizerState): void {
  const { layout, rule } = shape
  if (state.moments.length !== rule.moments || !Number.isInteger(state.updates) || state.updates < 0)
    throw new InvalidInputError(
      `the optimizer's memory has ${state.moments.length} vectors after ${state.updates} updates; ${shape.setup.optimizer.type} keeps ${rule.moments}`,
    )
  for (const moment of state.moments) checkLength(moment, layout.trainedLength)
  meter.settle(() => {
    prediction.forget()
    const restored = layout.trained.map((placed) => {
      return [placed.name, state.moments.map((moment) => tf.keep(part(moment, placed)))] as const
    })
    updater.restore(state.updates, new Map(restored))
  })
}

function layoutWithin({ shape }: Stage, layers: LayerRange) {
  checkWithin(layers, shape.setup.layers)
  return stateLayout(shape.layouts, layers)
}

function checkLength(values: Float32Array, length: number): void {
  if (values.length !== length)
    throw new InvalidInputError(`these layers have ${length} numbers, but ${values.length} were given`)
}

/** A tensor of one parameter's part of a vector. */
function part(values: Float32Array, { offset, length, shape }: Placed): Tensor {
  return upload(values.subarray(offset, offset + length), shape)
}

/** One vector of the tensors at their places. */
async function gathered(
  places: readonly Placed[],
  length: number,
  tensorOf: (name: string) => Tensor | undefined,
): Promise<Float32Array> {
  const values = new Float32Array(length)
  for (const { name, offset } of places) {
    const tensor = tensorOf(name)
    if (tensor === undefined) throw new InvariantError(`the stage holds no ${name}`)
    values.set(await download(tensor), offset)
  }
  return values
}
