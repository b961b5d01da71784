/** Dropout whose mask is a function of the micro-batch's seed and the layer's path. */
import * as tf from '@tensorflow/tfjs'
import { seedFrom } from '../../../../../shared/random.ts'
import type { LayerRule } from './rule.ts'
import { keepMask } from './mask.ts'

export const dropout: LayerRule<'dropout'> = ({ rate }, x, { path, mode }) => {
  if (!mode.training || rate === 0) return x
  const mask = keepMask(seedFrom(mode.dropoutSeed, path), rate, x.size)
  return tf.mul(x, tf.tensor(mask, x.shape, 'float32')) // [B, ...]
}
