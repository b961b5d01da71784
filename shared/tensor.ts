/** A tensor outside an engine: plain memory that can be sent, stored and compared. */
import { InvariantError } from './errors.ts'

export type Dtype = 'float32' | 'int32' | 'uint8'

/** Row-major elements and their shape; `data.length` is the product of `shape`. */
export interface HostTensor {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly data: Float32Array | Int32Array | Uint8Array
}

export const bytesPerElement: Readonly<Record<Dtype, number>> = { float32: 4, int32: 4, uint8: 1 }

/** The number of elements of a shape; 1 for a scalar. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1)
}

/** A float32 tensor over existing memory. @throws InvariantError when lengths disagree */
export function floatTensor(data: Float32Array, shape: readonly number[] = [data.length]): HostTensor {
  if (data.length !== elementCount(shape))
    throw new InvariantError(`${data.length} elements are not [${shape.join(', ')}]`)
  return { dtype: 'float32', shape, data }
}

/** The float32 elements of a tensor. @throws InvariantError when it holds something else */
export function floatsOf(tensor: HostTensor): Float32Array {
  if (!(tensor.data instanceof Float32Array))
    throw new InvariantError(`expected float32, got ${tensor.dtype}`)
  return tensor.data
}
