/** Embeddings. B samples, T tokens, D width, V vocabulary. */
import * as tf from '@tensorflow/tfjs'
import type { LayerRule } from './rule.ts'

export const tokenEmbedding: LayerRule<'token-embedding'> = (_layer, ids, { parameter }) =>
  tf.gather(parameter('table'), tf.cast(ids, 'int32')) // [B, T] → [B, T, D]

export const positionEmbedding: LayerRule<'position-embedding'> = (_layer, x, { parameter }) =>
  tf.add(x, parameter('table')) // [B, T, D] + [T, D]
