/** Adam and AdamW, as torch.optim.Adam and torch.optim.AdamW (no AMSGrad). */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import type { Optimizer } from '../../../../../shared/job/recipe.ts'
import type { OptimizerRule } from './rule.ts'

export type AdamSettings = Extract<Optimizer, { type: 'adam' | 'adamw' | 'lamb' }>

/** First and second moment of a parameter's gradients. */
export interface AdamMoments {
  readonly first: Tensor
  readonly second: Tensor
}

/** m ← β1·m + (1−β1)·g; v ← β2·v + (1−β2)·g². Tidied one by one: a large parameter's temporaries are its size. */
export function nextMoments(
  [first, second]: readonly Tensor[],
  gradient: Tensor,
  { beta1, beta2 }: AdamSettings,
): AdamMoments {
  const mix = (moment: Tensor | undefined, beta: number, fresh: () => Tensor) =>
    tf.tidy(() => {
      const added = tf.mul(fresh(), 1 - beta)
      return moment === undefined ? added : tf.add(tf.mul(moment, beta), added)
    })
  return {
    first: mix(first, beta1, () => gradient),
    second: mix(second, beta2, () => tf.square(gradient)),
  }
}

/** m̂ / (√v̂ + ε) with m̂ = m / (1−β1^t), v̂ = v / (1−β2^t). */
export function adamDirection(
  { first, second }: AdamMoments,
  update: number,
  settings: AdamSettings,
): Tensor {
  const rootCorrection = Math.sqrt(1 - settings.beta2 ** update)
  return tf.tidy(() => {
    const root = tf.tidy(() => tf.add(tf.div(tf.sqrt(second), rootCorrection), settings.epsilon))
    return tf.div(tf.div(first, 1 - settings.beta1 ** update), root)
  })
}

/**
 * Adam: g ← g + λ·w first. AdamW: w ← w·(1 − rate·λ) first. Then w ← w − rate·m̂/(√v̂+ε).
 *
 * @see https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html
 */
export function createAdam(settings: AdamSettings): OptimizerRule {
  const { weightDecay } = settings
  const decoupled = settings.type === 'adamw'
  return {
    moments: 2,
    step(weight, gradient, moments, { learningRate, update }) {
      const couple = weightDecay > 0 && !decoupled
      const slope = couple ? tf.add(gradient, tf.mul(weight, weightDecay)) : gradient
      const next = nextMoments(moments, slope, settings)
      const decays = weightDecay > 0 && decoupled
      const kept = decays ? tf.mul(weight, 1 - learningRate * weightDecay) : weight
      const moved = tf.tidy(() => tf.sub(kept, tf.mul(adamDirection(next, update, settings), learningRate)))
      return { weight: moved, moments: [next.first, next.second] }
    },
    direction(_weight, [first, second], update) {
      return first && second ? adamDirection({ first, second }, update, settings) : undefined
    },
  }
}
