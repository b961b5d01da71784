/**
 * Batch norm and layer norm, each with its gradient beside it.
 *
 * Both normalise a matrix x [N, D] along one axis: ẑ = (x − mean)/√(variance + ε), y = ẑ·scale + shift.
 * With g = dy·scale and mean(·) along that axis: dx = (g − mean(g) − ẑ·mean(g·ẑ))/√(variance + ε).
 * @see Ioffe and Szegedy 2015, "Batch normalization"; Ba, Kiros and Hinton 2016, "Layer normalization"
 */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import type { LayerCall, LayerRule } from './rule.ts'

/** x [N, D], scale [D], shift [D]. */
type Normed = [x: Tensor, scale: Tensor, shift: Tensor]
/** What was measured along the axis: [1, D] for columns (0), [N, 1] for rows (1). `variance` is biased. */
type Measured = (mean: Tensor, variance: Tensor) => void

/** Mean along an axis as a sum, which every backend does quickly. Keeps the axis. */
const meanAlong = (x: Tensor, axis: 0 | 1) => tf.mul(tf.sum(x, axis, true), 1 / (x.shape[axis] ?? 1))

/** Normalise along an axis, scale and shift. */
function normalise([x, scale, shift]: Normed, axis: 0 | 1, epsilon: number, measured?: Measured): Tensor {
  const rule = tf.customGrad((...given) => {
    const [input, factor, offset, save] = given as unknown as [...Normed, tf.GradSaveFunc]
    const mean = meanAlong(input, axis)
    const centred = tf.sub(input, mean) // [N, D]
    const variance = meanAlong(tf.square(centred), axis)
    const inverse = tf.rsqrt(tf.add(variance, epsilon))
    const normal = tf.mul(centred, inverse) // [N, D]
    measured?.(mean, variance)
    save([normal, inverse, factor])
    return {
      value: tf.add(tf.mul(normal, factor), offset), // [N, D]
      gradFunc: (dy, saved) => normaliseGradient(dy, saved as Normed, axis),
    }
  })
  return rule(x, scale, shift)
}

/** [dx, dScale, dShift] from dy [N, D]. */
function normaliseGradient(dy: Tensor, [normal, inverse, scale]: Normed, axis: 0 | 1): Tensor[] {
  const dScale = tf.sum(tf.mul(dy, normal), 0) // [D]
  const dShift = tf.sum(dy, 0) // [D]
  const g = tf.mul(dy, scale) // [N, D]
  const [along, against] = [meanAlong(g, axis), meanAlong(tf.mul(g, normal), axis)]
  const dx = tf.mul(tf.sub(tf.sub(g, along), tf.mul(normal, against)), inverse) // [N, D]
  return [dx, dScale, dShift]
}

export const layerNorm: LayerRule<'layer-norm'> = (layer, x, { parameter }) => {
  const scale = parameter('scale')
  const rows = tf.reshape(x, [-1, scale.size]) // [N, D]
  return tf.reshape(normalise([rows, scale, parameter('shift')], 1, layer.epsilon), x.shape)
}

export const batchNorm: LayerRule<'batch-norm'> = (layer, x, call) => {
  const [scale, shift] = [call.parameter('scale'), call.parameter('shift')]
  const rows = tf.reshape(x, [-1, scale.size]) // [N, C]
  const normed = call.mode.training
    ? normalise([rows, scale, shift], 0, layer.epsilon, reporter(call, rows.shape[0], layer.momentum))
    : byRunningStatistics([rows, scale, shift], call, layer.epsilon)
  return tf.reshape(normed, x.shape)
}

/** Tells the receiver what this micro-batch of N rows saw, or nothing when nobody listens. */
function reporter({ path, mode }: LayerCall, rows: number, momentum: number): Measured | undefined {
  const receiver = mode.onBatchStatistics
  if (receiver === undefined) return undefined
  return (mean, variance) => {
    receiver({
      meanName: `${path}/running-mean`,
      mean: tf.keep(tf.reshape(mean, [-1])),
      varianceName: `${path}/running-variance`,
      variance: tf.keep(tf.reshape(tf.mul(variance, rows / Math.max(1, rows - 1)), [-1])),
      momentum,
    })
  }
}

/** Evaluation: one multiplication and one addition a channel. */
function byRunningStatistics([x, scale, shift]: Normed, { parameter }: LayerCall, epsilon: number): Tensor {
  const factor = tf.mul(scale, tf.rsqrt(tf.add(parameter('running-variance'), epsilon))) // [C]
  const offset = tf.sub(shift, tf.mul(parameter('running-mean'), factor)) // [C]
  return tf.add(tf.mul(x, factor), offset) // [N, C]
}
