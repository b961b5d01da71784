/** Gradients of a depthwise convolution for the wasm backend. Filter [k, k, C, M], output channel c·M + m. */
import type { TensorInfo } from '@tensorflow/tfjs'
import type { Heap } from './heap.ts'
import type { Windows } from './windows.ts'

/** A pixel of the image meets a tap of the filter at a place of the output. Element indices, within their tensors. */
type Meeting = (pixel: number, tap: number, place: number) => void

/** Every triple of pixel, tap and place that multiply each other. Indices of their first channel. */
function eachMeeting(w: Windows, multiplier: number, meet: Meeting): void {
  const outChannels = w.channels * multiplier
  for (let place = 0; place < w.batch * w.outHeight * w.outWidth; place++) {
    const line = Math.floor(place / w.outWidth)
    const sample = Math.floor(line / w.outHeight)
    for (let i = 0; i < w.kernelHeight; i++) {
      const y = (line % w.outHeight) * w.strideHeight - w.top + i
      if (y < 0 || y >= w.height) continue
      for (let j = 0; j < w.kernelWidth; j++) {
        const x = (place % w.outWidth) * w.strideWidth - w.left + j
        if (x < 0 || x >= w.width) continue
        const pixel = ((sample * w.height + y) * w.width + x) * w.channels
        meet(pixel, (i * w.kernelWidth + j) * outChannels, place * outChannels)
      }
    }
  }
}

/** dW[i, j, c, m] = Σ x · dy. @returns [k, k, C, M] */
export function depthwiseFilterGradient(
  heap: Heap,
  w: Windows,
  op: { readonly x: TensorInfo; readonly dy: TensorInfo; readonly filterShape: readonly number[] },
): TensorInfo {
  const [multiplier = 1] = op.filterShape.slice(-1)
  const outChannels = w.channels * multiplier
  // Sums over many places: in double precision.
  const sums = new Float64Array(w.kernelHeight * w.kernelWidth * outChannels)
  const output = heap.output(op.filterShape)
  const floats = heap.floats()
  const [x, dy] = [heap.address(op.x) >>> 2, heap.address(op.dy) >>> 2]
  eachMeeting(w, multiplier, (pixel, tap, place) => {
    for (let f = 0; f < outChannels; f++) {
      const value = floats[x + pixel + Math.floor(f / multiplier)] ?? 0
      sums[tap + f] = (sums[tap + f] ?? 0) + value * (floats[dy + place + f] ?? 0)
    }
  })
  floats.set(sums, heap.address(output) >>> 2)
  return output
}

/** dx[c] = Σ W[i, j, c, m] · dy[c·M + m]. @returns [B, H, W, C] */
export function depthwiseInputGradient(
  heap: Heap,
  w: Windows,
  op: { readonly dy: TensorInfo; readonly filter: TensorInfo },
): TensorInfo {
  const [multiplier = 1] = op.filter.shape.slice(-1)
  const outChannels = w.channels * multiplier
  const output = heap.output([w.batch, w.height, w.width, w.channels])
  const floats = heap.floats()
  const [weight, dy] = [heap.address(op.filter) >>> 2, heap.address(op.dy) >>> 2]
  const to = heap.address(output) >>> 2
  floats.fill(0, to, to + w.batch * w.height * w.width * w.channels)
  eachMeeting(w, multiplier, (pixel, tap, place) => {
    for (let f = 0; f < outChannels; f++) {
      const at = to + pixel + Math.floor(f / multiplier)
      floats[at] = (floats[at] ?? 0) + (floats[weight + tap + f] ?? 0) * (floats[dy + place + f] ?? 0)
    }
  })
  return output
}
