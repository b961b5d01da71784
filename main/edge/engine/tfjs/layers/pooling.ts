/** Pooling of images. B samples, H×W pixels, C channels. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor4D } from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const maxPool: LayerRule<'max-pool'> = (layer, x) =>
  tf.maxPool(x as Tensor4D, layer.size, layer.stride ?? layer.size, layer.padding) // [B, H', W', C]

export const averagePool: LayerRule<'average-pool'> = (layer, x) =>
  tf.avgPool(x as Tensor4D, layer.size, layer.stride ?? layer.size, layer.padding) // [B, H', W', C]

export const globalAveragePool: LayerRule<'global-average-pool'> = (_layer, x) => tf.mean(x, [1, 2]) // [B, C]
