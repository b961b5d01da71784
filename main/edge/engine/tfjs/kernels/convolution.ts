/** Gradients of a convolution for the wasm backend, as matrix products of windows. F filters, K = k·k·C. */
import type { TensorInfo } from '@tensorflow/tfjs'
import { type Multiply, gemmScratchBytes } from './gemm.ts'
import type { Heap } from './heap.ts'
import { type Windows, gatherWindows, scatterWindows, windowCount, windowSize } from './windows.ts'

/** Elements of windows laid out at a time: what a second-level cache holds. */
const windowsAtOnce = 2 ** 18

/** Runs over the windows in blocks of so many rows that they fit `windowsAtOnce`. */
function inBlocks(w: Windows, body: (from: number, to: number) => void): void {
  const rows = Math.max(1, Math.floor(windowsAtOnce / windowSize(w)))
  for (let from = 0; from < windowCount(w); from += rows) body(from, Math.min(windowCount(w), from + rows))
}

function scratchFor(heap: Heap, w: Windows) {
  const scratch = heap.scratch(gemmScratchBytes + 4 * Math.max(windowsAtOnce, windowSize(w)))
  return { scratch, columns: scratch + gemmScratchBytes }
}

/** dW[K, F] = windows(x)ᵀ[K, places] · dy[places, F]. @returns [k, k, C, F] */
export function filterGradient(
  heap: Heap,
  multiply: Multiply,
  w: Windows,
  op: { readonly x: TensorInfo; readonly dy: TensorInfo; readonly filterShape: readonly number[] },
): TensorInfo {
  const [filters = 1] = op.dy.shape.slice(-1)
  const size = windowSize(w)
  const { scratch, columns } = scratchFor(heap, w)
  const output = heap.output(op.filterShape)
  const [x, dy, to] = [heap.address(op.x), heap.address(op.dy), heap.address(output)]
  inBlocks(w, (from, end) => {
    gatherWindows(heap.floats(), w, [from, end], { image: x >>> 2, out: columns >>> 2 })
    const product = {
      ...{ m: size, n: filters, k: end - from, accumulate: from > 0 },
      a: { address: columns, rowStride: 4, columnStride: 4 * size },
      b: { address: dy + 4 * from * filters, rowStride: 4 * filters, columnStride: 4 },
      c: { address: to, rowStride: 4 * filters },
    }
    multiply(product, scratch)
  })
  return output
}

/** dx = scatter of (dy[places, F] · Wᵀ[F, K]). @returns [B, H, W, C] */
export function inputGradient(
  heap: Heap,
  multiply: Multiply,
  w: Windows,
  op: { readonly dy: TensorInfo; readonly filter: TensorInfo },
): TensorInfo {
  const [filters = 1] = op.dy.shape.slice(-1)
  const size = windowSize(w)
  const { scratch, columns } = scratchFor(heap, w)
  const output = heap.output([w.batch, w.height, w.width, w.channels])
  const [dy, weight, to] = [heap.address(op.dy), heap.address(op.filter), heap.address(output)]
  const length = w.batch * w.height * w.width * w.channels
  heap.floats().fill(0, to >>> 2, (to >>> 2) + length)
  inBlocks(w, (from, end) => {
    const product = {
      ...{ m: end - from, n: size, k: filters, accumulate: false },
      a: { address: dy + 4 * from * filters, rowStride: 4 * filters, columnStride: 4 },
      b: { address: weight, rowStride: 4, columnStride: 4 * filters },
      c: { address: columns, rowStride: 4 * size },
    }
    multiply(product, scratch)
    scatterWindows(heap.floats(), w, [from, end], { image: to >>> 2, windows: columns >>> 2 })
  })
  return output
}
