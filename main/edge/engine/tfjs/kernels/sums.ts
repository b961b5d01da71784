/** Sums over rows for the wasm backend: bias gradients, batch statistics, embedding gradients. */
import type { TensorInfo } from '@tensorflow/tfjs'
import { elementCount } from '../../../../../shared/tensor.ts'
import { type Multiply, gemmScratchBytes } from './gemm.ts'
import type { Heap } from './heap.ts'

/**
 * Sum over the first axes of a tensor (N rows of C columns), as a product with a row of ones: the stock kernel
 * transposes the whole tensor first. Blocks of rows are summed apart, which keeps the rounding error small.
 */
export function sumOfRows(
  heap: Heap,
  multiply: Multiply,
  x: TensorInfo,
  shape: { readonly columns: number; readonly output: readonly number[] },
): TensorInfo {
  const { columns } = shape
  const one = heap.scratch(gemmScratchBytes + 4) + gemmScratchBytes
  const output = heap.output(shape.output)
  heap.floats()[one >>> 2] = 1
  const product = {
    ...{ m: 1, n: columns, k: elementCount(x.shape) / columns, accumulate: false },
    a: { address: one, rowStride: 0, columnStride: 0 },
    b: { address: heap.address(x), rowStride: 4 * columns, columnStride: 4 },
    c: { address: heap.address(output), rowStride: 4 * columns },
  }
  multiply(product, one - gemmScratchBytes)
  return output
}

/** out[s] = Σ of the rows of x whose segment is s; rows of other segments are dropped. @returns [segments, ...] */
export function sumOfSegments(
  heap: Heap,
  op: { readonly x: TensorInfo; readonly segments: TensorInfo; readonly count: number },
): TensorInfo {
  const rows = elementCount(op.segments.shape)
  const rowShape = op.x.shape.slice(op.segments.shape.length)
  const columns = elementCount(rowShape)
  const output = heap.output([op.count, ...rowShape])
  const [floats, integers] = [heap.floats(), heap.integers()]
  const [x, segments, to] = [
    heap.address(op.x) >>> 2,
    heap.address(op.segments) >>> 2,
    heap.address(output) >>> 2,
  ]
  floats.fill(0, to, to + op.count * columns)
  for (let row = 0; row < rows; row++) {
    const segment = integers[segments + row] ?? -1
    if (segment < 0 || segment >= op.count) continue
    const [target, source] = [to + segment * columns, x + row * columns]
    for (let c = 0; c < columns; c++)
      floats[target + c] = (floats[target + c] ?? 0) + (floats[source + c] ?? 0)
  }
  return output
}
