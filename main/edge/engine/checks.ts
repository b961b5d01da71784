/** Checks of what comes into an engine from outside, before anything is made of it; alike for all engines. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { LayerRange } from '../../../shared/model/graph.ts'
import type { Dtype, HostTensor } from '../../../shared/tensor.ts'

/** What a tensor from outside has to be; `shape` without the micro-batch axis. */
export interface Expected {
  readonly what: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
}

/**
 * Check a tensor from outside before anything is made of it.
 *
 * @returns its elements and B, the extent of its first axis
 * @throws InvalidInputError
 */
export function checked(tensor: HostTensor, { what, dtype, shape }: Expected) {
  const [batch = 0, ...sample] = tensor.shape
  const { data } = tensor
  const fits =
    tensor.dtype === dtype &&
    Number.isInteger(batch) &&
    batch >= 1 &&
    sample.join() === shape.join() &&
    data.length === shape.reduce((product, extent) => product * extent, batch)
  if (!fits || data instanceof Uint8Array)
    throw new InvalidInputError(
      `${what} must be ${dtype} [B, ${shape.join(', ')}], but is ${tensor.dtype} [${tensor.shape.join(', ')}] of ${data.length}`,
    )
  return { data, batch }
}

/** @throws InvalidInputError when an id is not in [0, below) */
export function checkIds(ids: Float32Array | Int32Array, below: number): void {
  for (const id of ids)
    if (id < 0 || id >= below)
      throw new InvalidInputError(`token id ${id} is not in the vocabulary of ${below} tokens`)
}

/** @throws InvalidInputError when a run of layers is empty or not within another */
export function checkWithin([from, to]: LayerRange, [outerFrom, outerTo]: LayerRange): void {
  const whole = Number.isInteger(from) && Number.isInteger(to)
  if (!whole || from < outerFrom || to > outerTo || from >= to)
    throw new InvalidInputError(`layers [${from}, ${to}) are not a run within [${outerFrom}, ${outerTo})`)
}
