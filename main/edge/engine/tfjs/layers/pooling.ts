/** Pooling of images. B samples, H×W pixels, C channels. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor, Tensor4D } from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const maxPool: LayerRule<'max-pool'> = (layer, x) =>
  tf.maxPool(x as Tensor4D, layer.size, layer.stride ?? layer.size, layer.padding) // [B, H', W', C]

export const averagePool: LayerRule<'average-pool'> = (layer, input) => {
  const x = input as Tensor4D
  const stride = layer.stride ?? layer.size
  if (layer.padding === 'valid') return tf.avgPool(x, layer.size, stride, 'valid') // [B, H', W', C]
  // tf's own padded average has a wrong gradient: AvgPoolGrad divides by the whole window, the forward by what lies
  // inside (tfjs 4.22, all backends). So pad with zeros, take plain means and scale them by window / inside.
  const info = tf.backend_util.computePool2DInfo(x.shape, layer.size, stride, 1, 'same')
  const { top, bottom, left, right } = info.padInfo
  const padded = tf.pad(x, [
    [0, 0],
    [top, bottom],
    [left, right],
    [0, 0],
  ])
  return tf.mul(tf.avgPool(padded, layer.size, stride, 'valid'), windowShares(info)) // [B, H', W', C]
}

/** Elements of a window over those that lie inside the image, for each place: [H', W', 1]. */
function windowShares(info: ReturnType<typeof tf.backend_util.computePool2DInfo>): Tensor {
  const inside = (count: number, axis: { start: number; stride: number; size: number; extent: number }) =>
    Array.from({ length: count }, (_, place) => {
      const from = place * axis.stride - axis.start
      return Math.min(axis.extent, from + axis.size) - Math.max(0, from)
    })
  const rows = inside(info.outHeight, {
    start: info.padInfo.top,
    stride: info.strideHeight,
    size: info.filterHeight,
    extent: info.inHeight,
  })
  const columns = inside(info.outWidth, {
    start: info.padInfo.left,
    stride: info.strideWidth,
    size: info.filterWidth,
    extent: info.inWidth,
  })
  const area = info.filterHeight * info.filterWidth
  const shares = rows.flatMap((high) => columns.map((wide) => area / (high * wide)))
  return tf.tensor(shares, [rows.length, columns.length, 1])
}

export const globalAveragePool: LayerRule<'global-average-pool'> = (_layer, x) => tf.mean(x, [1, 2]) // [B, C]
