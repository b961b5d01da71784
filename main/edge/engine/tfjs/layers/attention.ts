/** Multi-head self-attention. B samples, T tokens, D width, H heads, E = D/H. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { project } from './dense.ts'
import type { LayerRule } from './rule.ts'

export const attention: LayerRule<'attention'> = (layer, x, { parameter }) => {
  const [batch = 1, tokens = 1, width = 1] = x.shape
  const head = width / layer.heads
  const qkv = project(x, parameter('qkv-weight'), parameter('qkv-bias')) // [B, T, 3D]
  const [q, k, v] = tf
    .split(qkv, 3, -1)
    .map((part) => tf.transpose(tf.reshape(part, [batch, tokens, layer.heads, head]), [0, 2, 1, 3])) as [
    Tensor,
    Tensor,
    Tensor,
  ] // each [B, H, T, E]
  const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(head)) // [B, H, T, T]
  const weights = tf.softmax(layer.causal ? tf.add(scores, futureMask(tokens)) : scores) // [B, H, T, T]
  const mixed = tf.transpose(tf.matMul(weights, v), [0, 2, 1, 3]) // [B, T, H, E]
  return project(tf.reshape(mixed, [batch, tokens, width]), parameter('out-weight'), parameter('out-bias')) // [B, T, D]
}

/** [T, T]: 0 where a token may look (itself and before), −1e9 where it may not. */
function futureMask(tokens: number): Tensor {
  const mask = new Float32Array(tokens * tokens)
  for (let token = 0; token < tokens; token++)
    mask.fill(-1e9, token * tokens + token + 1, (token + 1) * tokens)
  return tf.tensor(mask, [tokens, tokens])
}
