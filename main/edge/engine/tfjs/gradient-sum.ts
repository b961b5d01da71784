/** The gradients of several micro-batches, added up until an update takes them. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'

/** One sum a parameter, by name. Call inside the meter's operations. */
export interface GradientSum {
  /** Micro-batches in it. */
  readonly count: number
  of(name: string): Tensor | undefined
  /** Add the gradient of one micro-batch's mean loss; a parameter that is missing adds zero. The gradients stay the caller's. */
  add(gradients: ReadonlyMap<string, Tensor>): void
  /** Sum of squares of each parameter's sum, one 1-D tensor, the caller's; undefined when there is none. */
  squares(): Tensor | undefined
  clear(): void
}

export function createGradientSum(): GradientSum {
  const sums = new Map<string, Tensor>()
  let count = 0
  return {
    get count() {
      return count
    },
    of: (name) => sums.get(name),
    add(gradients) {
      for (const [name, gradient] of gradients) {
        const before = sums.get(name)
        sums.set(name, tf.keep(before === undefined ? tf.clone(gradient) : tf.add(before, gradient)))
        before?.dispose()
      }
      count += 1
    },
    squares() {
      if (sums.size === 0) return undefined
      const each = [...sums.values()].map((sum) => tf.tidy(() => tf.sum(tf.square(sum))))
      return tf.keep(tf.stack(each))
    },
    clear() {
      tf.dispose([...sums.values()])
      sums.clear()
      count = 0
    },
  }
}
