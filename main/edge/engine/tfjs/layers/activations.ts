/** Activations, element by element: [B, ...] → [B, ...]. Each forward rule stands next to its gradient. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const relu: LayerRule<'relu'> = (_layer, x) => tf.relu(x)

/** y = x·s with s = σ(x); dx = dy·(s + y·(1 − s)) */
export const silu: LayerRule<'silu'> = (_layer, x) => {
  const rule = tf.customGrad((...given) => {
    const [input, save] = given as unknown as [Tensor, tf.GradSaveFunc]
    const gate = tf.sigmoid(input)
    const value = tf.mul(input, gate)
    save([gate, value])
    const gradFunc = (dy: Tensor | Tensor[], saved: Tensor[]) => {
      const [s, y] = saved as [Tensor, Tensor]
      return tf.mul(dy as Tensor, tf.add(s, tf.mul(y, tf.sub(1, s))))
    }
    return { value, gradFunc }
  })
  return rule(x)
}

/** 2·√(2/π), and that times 0.044715. */
const linear = 2 * Math.sqrt(2 / Math.PI)
const cubic = linear * 0.044715

/**
 * The tanh form, written with 0.5·(1 + tanh(u)) = σ(2u), because backends have a quicker sigmoid:
 * y = x·s with s = σ(x·(linear + cubic·x²)); dx = dy·(s + y·(1 − s)·(linear + 3·cubic·x²))
 */
export const gelu: LayerRule<'gelu'> = (_layer, x) => {
  const rule = tf.customGrad((...given) => {
    const [input, save] = given as unknown as [Tensor, tf.GradSaveFunc]
    const slope = tf.add(tf.mul(tf.square(input), cubic), linear)
    const gate = tf.sigmoid(tf.mul(input, slope))
    const value = tf.mul(input, gate)
    save([input, gate, value])
    return { value, gradFunc: (dy, saved) => geluGradient(dy, saved as [Tensor, Tensor, Tensor]) }
  })
  return rule(x)
}

function geluGradient(dy: Tensor, [x, s, y]: [Tensor, Tensor, Tensor]): Tensor {
  const slope = tf.add(tf.mul(tf.square(x), 3 * cubic), linear)
  return tf.mul(dy, tf.add(s, tf.mul(tf.mul(y, tf.sub(1, s)), slope)))
}
