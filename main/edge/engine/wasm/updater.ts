/** The optimizer's side of a stage: its memory, the step that takes the gathered gradient, and prediction from it. */
import { InvariantError } from '../../../../shared/errors.ts'
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { StageSetup, UpdateResult } from '../../../core/ports.ts'
import { learningRateFactor } from '../schedule.ts'
import { type Block, type Heap, allocateZeros } from './memory/heap.ts'
import { createOptimizer } from './optimizers/choose.ts'
import type { RunKernel } from './plan.ts'
import type { StageShape } from './stage-shape.ts'
import type { Weights, WeightVersion } from './weights.ts'

/** PyTorch's clip_grad_norm_ divides by a norm that is never 0. */
const clipEpsilon = 1e-6

export interface Updater {
  /** Where gradients of mean losses are added up. */
  readonly sums: number
  /** One more micro-batch is in the sum. */
  gathered(): void
  /** Apply the mean of what was gathered, clipped, and clear it. @throws InvariantError when there is none */
  update(): UpdateResult
  /** The weights for τ updates ahead; the newest where there is nothing to predict from. Hold them to keep them. */
  at(ahead: number): WeightVersion
  /** Weights or moments changed: forget what was predicted. Micro-batches in flight keep theirs. */
  forgetPrediction(): void
  /** Updates made. */
  updates: number
  readonly moments: readonly Block[]
}

/** What an updater works on. */
export interface UpdaterParts {
  readonly shape: StageShape
  readonly heap: Heap
  readonly run: RunKernel
  readonly weights: Weights
}

/** @throws DeviceMemoryError */
export function createUpdater({ shape, heap, run, weights }: UpdaterParts): Updater {
  const { layout, setup } = shape
  const length = layout.trainedLength
  const bytes = length * bytesPerFloat
  const rule = createOptimizer(setup.optimizer, { run, layout }, spareFor(shape, heap))
  const sums = allocateZeros(heap, bytes)
  const moments = Array.from({ length: rule.moments }, () => allocateZeros(heap, bytes))
  const addresses = moments.map(({ address }) => address)
  let count = 0
  let predicted: { readonly ahead: number; readonly version: WeightVersion } | undefined
  const clear = () => {
    heap.floats(sums.address, length).fill(0)
    count = 0
  }
  const updater: Updater = {
    sums: sums.address,
    updates: 0,
    moments,
    gathered() {
      count += 1
    },
    update() {
      if (count === 0) throw new InvariantError('an update needs at least one micro-batch')
      const gradientNorm = Math.sqrt(run('squares', length, sums.address)) / count
      if (!Number.isFinite(gradientNorm)) {
        clear()
        return { applied: false, gradientNorm }
      }
      const time = {
        learningRate: rateAt(setup, updater.updates),
        update: updater.updates + 1,
        scale: clipping(gradientNorm, setup.clipNorm) / count,
      }
      updater.forgetPrediction()
      weights.advance((from, to) => {
        rule.step({ from, to, gradient: sums.address, moments: addresses }, time)
      })
      updater.updates += 1
      clear()
      return { applied: true, gradientNorm }
    },
    at(ahead) {
      if (ahead === 0 || updater.updates === 0 || rule.moments === 0) return weights.newest
      if (predicted?.ahead === ahead) return predicted.version
      updater.forgetPrediction()
      const reach = ahead * rateAt(setup, updater.updates)
      const version = weights.derive((from, to) => {
        rule.ahead({ from, to, moments: addresses }, reach, updater.updates)
      })
      predicted = { ahead, version }
      return version
    },
    forgetPrediction() {
      if (predicted !== undefined) weights.release(predicted.version)
      predicted = undefined
    },
  }
  return updater
}

/** The learning rate of an update, from 0. */
const rateAt = ({ optimizer, learningRate }: StageSetup, update: number) =>
  optimizer.learningRate * learningRateFactor(learningRate, update)

/** What a gradient is scaled by so that its norm is no larger than wanted. */
const clipping = (norm: number, most = Infinity) => Math.min(1, most / (norm + clipEpsilon))

/** Room for the way of the largest parameter, which LAMB alone needs. */
function spareFor({ layout, setup }: StageShape, heap: Heap): number {
  if (setup.optimizer.type !== 'lamb') return 0
  const largest = layout.trained.reduce((most, placed) => Math.max(most, placed.length), 0)
  return heap.allocate(largest * bytesPerFloat).address
}
