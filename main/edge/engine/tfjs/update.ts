/** The optimizer's side of a stage: its memory, and the step that takes the gathered gradient. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { StateLayout } from '../../../../shared/model/layout.ts'
import type { StageSetup } from '../../../core/ports.ts'
import type { GradientSum } from './gradient-sum.ts'
import type { OptimizerRule } from './optimizers/rule.ts'
import { learningRateFactor } from '../schedule.ts'
import type { Weights, WeightVersion } from './weights.ts'

/** PyTorch's clip_grad_norm_ divides by a norm that is never 0. */
const clipEpsilon = 1e-6
/** Tensors of a parameter's size that live at once while it steps; LAMB has the most. */
const stepTensors = 8

/** The optimizer's memory, by parameter name. */
type Moments = ReadonlyMap<string, readonly Tensor[]>

/** What the updater works on. */
export interface UpdaterParts {
  readonly weights: Weights
  readonly sum: GradientSum
  readonly layout: StateLayout
  readonly rule: OptimizerRule
  readonly setup: Pick<StageSetup, 'optimizer' | 'learningRate' | 'clipNorm'>
}

/** Call the methods inside the meter's operations. */
export interface Updater {
  /** Updates made. */
  readonly updates: number
  /** Zeros before the first update. */
  readonly moments: Moments
  /** Bytes that an update needs beyond what lives before it. */
  bytesOfUpdate(): number
  /** Step every parameter with the mean gradient, clipped. Clears the sum. @param norm - of the mean gradient, finite */
  step(norm: number): void
  /** Weights predicted τ updates ahead, held once for the caller; undefined while there is nothing to predict from. */
  predict(ahead: number): WeightVersion | undefined
  /** Replace memory and update count. Takes the tensors, which must be kept. */
  restore(updates: number, moments: Moments): void
  dispose(): void
}

export function createUpdater({ weights, sum, layout, rule, setup }: UpdaterParts): Updater {
  let moments = zeroMoments(layout, rule)
  let updates = 0
  const rate = () => setup.optimizer.learningRate * learningRateFactor(setup.learningRate, updates)
  /** What the sum is multiplied with: the mean over micro-batches, then the clipping. */
  const scaleFor = (norm: number) =>
    Math.min(1, (setup.clipNorm ?? Infinity) / (norm + clipEpsilon)) / Math.max(1, sum.count)
  const dispose = () => {
    for (const tensors of moments.values()) tf.dispose([...tensors])
    moments.clear()
  }
  return {
    get updates() {
      return updates
    },
    get moments() {
      return moments
    },
    bytesOfUpdate() {
      const stashed = weights.newestIsHeld ? layout.trainedLength : 0
      const largest = layout.trained.reduce((most, { length }) => Math.max(most, length), 0)
      return bytesPerFloat * (stashed + stepTensors * largest)
    },
    step(norm) {
      const time = { learningRate: rate(), update: updates + 1 }
      const scale = scaleFor(norm)
      weights.advance(({ name }, weight) => {
        const gradient = sum.of(name)
        if (gradient === undefined) return weight
        const before = moments.get(name) ?? []
        return tf.tidy(() => {
          const stepped = rule.step(weight, tf.mul(gradient, scale), before, time)
          moments.set(name, stepped.moments.map((moment) => tf.keep(moment))) // prettier-ignore
          tf.dispose([...before])
          return stepped.weight
        })
      })
      updates += 1
      sum.clear()
    },
    predict(ahead) {
      if (updates === 0 || rule.moments === 0) return undefined
      const reach = ahead * rate()
      return weights.derive(({ name }, weight) =>
        tf.tidy(() => {
          const direction = rule.direction(weight, moments.get(name) ?? [], updates)
          return direction === undefined ? weight : tf.sub(weight, tf.mul(direction, reach))
        }),
      )
    },
    restore(made, given) {
      dispose()
      moments = new Map(given)
      updates = made
    },
    dispose,
  }
}

function zeroMoments(layout: StateLayout, rule: OptimizerRule): Map<string, readonly Tensor[]> {
  const zeros = (shape: readonly number[]) => tf.keep(tf.zeros([...shape]))
  return new Map(
    layout.trained.map(({ name, shape }) => [name, Array.from({ length: rule.moments }, () => zeros(shape))]),
  )
}
