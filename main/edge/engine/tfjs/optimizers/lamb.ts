/** LAMB: Adam's direction with decoupled decay, scaled for each parameter to the length of its weights. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { type AdamSettings, adamDirection, nextMoments } from './adam.ts'
import type { OptimizerRule } from './rule.ts'

/** ‖w‖ / ‖r‖, and 1 where either is 0 (biases that start at 0). A scalar tensor. */
function trustRatio(weight: Tensor, way: Tensor): Tensor {
  const [weightNorm, wayNorm] = [tf.norm(weight), tf.norm(way)]
  const usable = tf.greater(tf.minimum(weightNorm, wayNorm), 0)
  return tf.where(usable, tf.div(weightNorm, wayNorm), tf.onesLike(weightNorm))
}

/**
 * r = m̂/(√v̂+ε) + λ·w; w ← w − rate·(‖w‖/‖r‖)·r. With bias correction and φ the identity, as in the paper's
 * algorithm 2; every parameter tensor is one "layer" of the paper.
 *
 * @see You et al. 2020, "Large batch optimization for deep learning: training BERT in 76 minutes"
 */
export function createLamb(settings: AdamSettings): OptimizerRule {
  const { weightDecay } = settings
  const withDecay = (direction: Tensor, weight: Tensor) =>
    weightDecay > 0 ? tf.add(direction, tf.mul(weight, weightDecay)) : direction
  return {
    moments: 2,
    step(weight, gradient, moments, { learningRate, update }) {
      const next = nextMoments(moments, gradient, settings)
      const way = withDecay(adamDirection(next, update, settings), weight)
      const length = tf.mul(trustRatio(weight, way), learningRate)
      return { weight: tf.sub(weight, tf.mul(way, length)), moments: [next.first, next.second] }
    },
    /** The trust ratio is the update's own, decay included; the decay's pull itself is left out. */
    direction(weight, [first, second], update) {
      if (!first || !second) return undefined
      const direction = adamDirection({ first, second }, update, settings)
      return tf.mul(direction, trustRatio(weight, withDecay(direction, weight)))
    },
  }
}
