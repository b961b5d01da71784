/** Stochastic gradient descent with momentum, as torch.optim.SGD (dampening 0). */
import * as tf from '@tensorflow/tfjs'
import type { Optimizer } from '../../../../../shared/job/recipe.ts'
import type { OptimizerRule } from './rule.ts'

type SgdSettings = Extract<Optimizer, { type: 'sgd' }>

/**
 * g ← g + λ·w; v ← μ·v + g; w ← w − rate·v, or with Nesterov w − rate·(g + μ·v).
 *
 * @see https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
 */
export function createSgd({ momentum, nesterov, weightDecay }: SgdSettings): OptimizerRule {
  return {
    moments: momentum > 0 ? 1 : 0,
    step(weight, gradient, [velocity], { learningRate }) {
      const slope = weightDecay > 0 ? tf.add(gradient, tf.mul(weight, weightDecay)) : gradient
      if (velocity === undefined) return { weight: tf.sub(weight, tf.mul(slope, learningRate)), moments: [] }
      const next = tf.add(tf.mul(velocity, momentum), slope)
      const way = nesterov ? tf.add(slope, tf.mul(next, momentum)) : next
      return { weight: tf.sub(weight, tf.mul(way, learningRate)), moments: [next] }
    },
    direction: (_weight, [velocity]) => velocity,
  }
}
