/** What an optimizer is: how one parameter moves. Gradients are means over micro-batches, clipped already. */
import type { Tensor } from '@tensorflow/tfjs'

/** When a step is taken. */
interface StepTime {
  /** The optimizer's rate times the schedule's factor. */
  readonly learningRate: number
  /** Number of the update from 1: the exponent of the bias corrections. */
  readonly update: number
}

/** A parameter after a step. */
interface Stepped {
  readonly weight: Tensor
  readonly moments: readonly Tensor[]
}

/** One parameter's rule. Call inside tf.tidy; nothing given is disposed. All tensors have the parameter's shape. */
export interface OptimizerRule {
  /** How many tensors it remembers for each parameter, all zero before the first update. */
  readonly moments: number
  step(weight: Tensor, gradient: Tensor, moments: readonly Tensor[], time: StepTime): Stepped
  /**
   * The way a parameter moves per unit of learning rate, judged from the moments alone and without weight decay:
   * predicted weight = weight − τ·rate·direction. Undefined: it remembers nothing, so nothing can be predicted.
   *
   * @param update - updates made so far, at least 1
   */
  direction(weight: Tensor, moments: readonly Tensor[], update: number): Tensor | undefined
}
