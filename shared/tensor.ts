/** A tensor outside an engine: plain memory that can be sent, stored and compared. */
import { InvariantError } from './errors.ts'
import type { Bytes } from './units.ts'

/** Elements as engines compute with them. */
export type Dtype = 'float32' | 'int32' | 'uint8'
/** float32 elements as a codec wrote them for the wire (`codec/codec.ts`). */
export type PackedDtype = 'float16' | 'bfloat16' | 'int8-blocks'

/**
 * Row-major elements and their shape. `data.length` is the product of `shape`; of a packed tensor, `data` is the
 * codec's bytes.
 */
export interface HostTensor {
  readonly dtype: Dtype | PackedDtype
  readonly shape: readonly number[]
  readonly data: Float32Array | Int32Array | Uint8Array
}

export const bytesPerElement: Readonly<Record<Dtype, number>> = { float32: 4, int32: 4, uint8: 1 }

/** Elements of an int8 block, which share one scale. 256 costs 1.6 % for the scales. */
export const blockElements = 256
/** A float32 scale a block. */
export const scaleBytes: Bytes = 4

/** The blocks of so many elements; the last may be shorter. */
export function blockCount(elements: number): number {
  return Math.ceil(elements / blockElements)
}

/** The bytes of so many elements: all that a receiver needs to bound what it takes memory for. */
export function byteLengthOf(dtype: Dtype | PackedDtype, elements: number): Bytes {
  if (dtype === 'int8-blocks') return elements + scaleBytes * blockCount(elements)
  if (dtype === 'float16' || dtype === 'bfloat16') return 2 * elements
  return bytesPerElement[dtype] * elements
}

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
