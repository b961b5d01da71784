/** Dense layers. B samples, D width in, U units out, N = all axes but the last. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { elementCount } from '../../../../../shared/tensor.ts'
import type { LayerRule } from './rule.ts'

/** x·W (+ b) over the last axis, as one matrix product. @param x - [..., D] @param weight - [D, U] @param bias - [U] */
export function project(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
  const [width = 1, units = 1] = weight.shape
  const rows = tf.reshape(x, [-1, width]) // [N, D]
  const product = tf.matMul(rows, weight) // [N, U]
  const shifted = bias === undefined ? product : tf.add(product, bias)
  return tf.reshape(shifted, [...x.shape.slice(0, -1), units]) // [..., U]
}

export const dense: LayerRule<'dense'> = (layer, x, { parameter }) =>
  project(x, parameter('weight'), layer.bias ? parameter('bias') : undefined)

export const flatten: LayerRule<'flatten'> = (_layer, x) =>
  tf.reshape(x, [x.shape[0], elementCount(x.shape.slice(1))]) // [B, product]
