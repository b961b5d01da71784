/** Gradient of max pooling for the wasm backend. */
import type { TensorInfo } from '@tensorflow/tfjs'
import type { Heap } from './heap.ts'
import { type Windows, windowCount } from './windows.ts'

/** Each window's gradient goes to its first largest element, as in the forward. @returns [B, H, W, C] */
export function maxPoolGradient(
  heap: Heap,
  w: Windows,
  op: { readonly x: TensorInfo; readonly dy: TensorInfo },
): TensorInfo {
  const output = heap.output(op.x.shape)
  const floats = heap.floats()
  const [x, dy, to] = [heap.address(op.x) >>> 2, heap.address(op.dy) >>> 2, heap.address(output) >>> 2]
  floats.fill(0, to, to + w.batch * w.height * w.width * w.channels)
  for (let place = 0; place < windowCount(w); place++) {
    const rows = clip(
      (Math.floor(place / w.outWidth) % w.outHeight) * w.strideHeight - w.top,
      w.kernelHeight,
      w.height,
    )
    const columns = clip((place % w.outWidth) * w.strideWidth - w.left, w.kernelWidth, w.width)
    const sample = Math.floor(place / (w.outWidth * w.outHeight)) * w.height * w.width
    for (let c = 0; c < w.channels; c++) {
      let best = -1
      let largest = -Infinity
      for (let y = rows.from; y < rows.to; y++)
        for (let column = columns.from; column < columns.to; column++) {
          const pixel = (sample + y * w.width + column) * w.channels + c
          const value = floats[x + pixel] ?? 0
          if (best >= 0 && value <= largest) continue
          best = pixel
          largest = value
        }
      floats[to + best] = (floats[to + best] ?? 0) + (floats[dy + place * w.channels + c] ?? 0)
    }
  }
  return output
}

/** The part of a window's extent that lies within the image. */
function clip(start: number, extent: number, limit: number) {
  return { from: Math.max(0, start), to: Math.min(limit, start + extent) }
}
