/** Tensors across the border of the engine: plain memory in, plain memory out, never shared. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { Dtype, HostTensor } from '../../../../shared/tensor.ts'

/** The wasm backend copies both ways; all others may keep or hand out the very array. */
const copiesByItself = () => tf.getBackend() === 'wasm'

/** A tensor with a copy of these elements. Int32Array becomes int32. */
export function upload(data: Float32Array | Int32Array, shape: readonly number[]): Tensor {
  const elements = copiesByItself() ? data : data.slice()
  return tf.tensor(elements, [...shape], data instanceof Int32Array ? 'int32' : 'float32')
}

/** A copy of a float32 tensor's elements, the caller's. */
export async function download(tensor: Tensor): Promise<Float32Array> {
  const elements = (await tensor.data()) as Float32Array
  return copiesByItself() ? elements : elements.slice()
}

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
