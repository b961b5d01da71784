/** Activations, element by element: [B, ...] → [B, ...]. */
import * as tf from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const relu: LayerRule<'relu'> = (_layer, x) => tf.relu(x)

/** x · sigmoid(x) */
export const silu: LayerRule<'silu'> = (_layer, x) => tf.mul(x, tf.sigmoid(x))

/** 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))) */
export const gelu: LayerRule<'gelu'> = (_layer, x) => {
  const inner = tf.mul(tf.add(x, tf.mul(tf.mul(tf.square(x), x), 0.044715)), Math.sqrt(2 / Math.PI))
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(inner), 1))
}
