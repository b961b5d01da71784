/** BatchMatMul for the wasm backend: the stock kernel falls to a scalar loop for any batch or transpose. */
import type { TensorInfo } from '@tensorflow/tfjs'
import { elementCount } from '../../../../../shared/tensor.ts'
import { type Multiply, gemmScratchBytes } from './gemm.ts'
import type { Heap } from './heap.ts'

/** A [..., m, k] and B [..., k, n], either transposed; a batch of one is used for all of the other's. */
interface MatMul {
  readonly a: TensorInfo
  readonly b: TensorInfo
  readonly transposeA: boolean
  readonly transposeB: boolean
}

/** [..., m, n] */
export function multiplyBatches(heap: Heap, multiply: Multiply, op: MatMul): TensorInfo {
  const [a, b] = [planeOf(op.a, op.transposeA), planeOf(op.b, op.transposeB)]
  const [m, k, n] = [a.rows, a.columns, b.columns]
  const outer = (a.batch >= b.batch ? op.a : op.b).shape.slice(0, -2)
  const scratch = heap.scratch(gemmScratchBytes)
  const output = heap.output([...outer, m, n])
  const [fromA, fromB, to] = [heap.address(op.a), heap.address(op.b), heap.address(output)]
  for (let index = 0; index < Math.max(a.batch, b.batch); index++)
    multiply(
      {
        ...{ m, n, k, accumulate: false },
        a: { ...a.strides, address: fromA + (index % a.batch) * 4 * m * k },
        b: { ...b.strides, address: fromB + (index % b.batch) * 4 * k * n },
        c: { rowStride: 4 * n, address: to + index * 4 * m * n },
      },
      scratch,
    )
  return output
}

function planeOf({ shape }: TensorInfo, transposed: boolean) {
  const [height = 1, width = 1] = shape.slice(-2)
  const [along, across] = [4 * width, 4]
  return {
    batch: elementCount(shape.slice(0, -2)),
    rows: transposed ? width : height,
    columns: transposed ? height : width,
    strides: transposed
      ? { rowStride: across, columnStride: along }
      : { rowStride: along, columnStride: across },
  }
}
