/** Batch norm and layer norm. C or D is the last axis, N all others together. */
import * as tf from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const batchNorm: LayerRule<'batch-norm'> = (layer, x, call) => {
  const [scale, shift] = [call.parameter('scale'), call.parameter('shift')]
  const channels = scale.size
  const rows = tf.reshape(x, [-1, channels]) // [N, C]
  if (!call.mode.training) {
    const factor = tf.mul(scale, tf.rsqrt(tf.add(call.parameter('running-variance'), layer.epsilon))) // [C]
    const offset = tf.sub(shift, tf.mul(call.parameter('running-mean'), factor)) // [C]
    return tf.reshape(tf.add(tf.mul(rows, factor), offset), x.shape)
  }
  const { mean, variance } = tf.moments(rows, 0) // [C]
  const n = rows.shape[0]
  call.mode.onBatchStatistics?.({
    meanName: `${call.path}/running-mean`,
    mean: tf.keep(tf.clone(mean)),
    varianceName: `${call.path}/running-variance`,
    variance: tf.keep(tf.mul(variance, n / Math.max(1, n - 1))),
    momentum: layer.momentum,
  })
  const normal = tf.mul(tf.sub(rows, mean), tf.rsqrt(tf.add(variance, layer.epsilon))) // [N, C]
  return tf.reshape(tf.add(tf.mul(normal, scale), shift), x.shape)
}

export const layerNorm: LayerRule<'layer-norm'> = (layer, x, { parameter }) => {
  const { mean, variance } = tf.moments(x, -1, true) // [..., 1]
  const normal = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, layer.epsilon))) // [..., D]
  return tf.add(tf.mul(normal, parameter('scale')), parameter('shift'))
}
