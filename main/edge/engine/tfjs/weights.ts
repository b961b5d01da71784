/**
 * The numbers of a stage as tensors, in versions.
 *
 * TensorFlow.js tensors do not change, so a version of the weights is a set of tensors, one a parameter, and
 * holding it for a backward pass costs nothing until an update replaces the newest. One tensor a parameter, not
 * one flat tensor for the stage: slices of a flat tensor are copies on every backend (a second copy of the
 * weights, and 1 ms for 50 000 elements on wasm), while the saving, a few calls of 7 µs a parameter and update,
 * is small beside a step; and an update's temporaries stay the size of one parameter.
 *
 * The running statistics of batch norm are not part of a version: only evaluation reads them.
 */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { InvariantError } from '../../../../shared/errors.ts'
import type { Placed, StateLayout } from '../../../../shared/model/layout.ts'
import type { BatchStatistics, Parameters } from './layers/run.ts'

/** One version of the trained weights. */
export interface WeightVersion {
  /** By name, in the order of the layout. */
  readonly trained: ReadonlyMap<string, Tensor>
}

/** A parameter's next tensor, or the very same where it stays. What is returned new is the weights'. */
type NextTensor = (placed: Placed, tensor: Tensor) => Tensor

/** Trained weights in versions and the running state of one stage. Call inside the meter's operations. */
export interface Weights {
  readonly newest: WeightVersion
  /** True while a micro-batch in flight needs the newest weights. */
  readonly newestIsHeld: boolean
  /** Weights of a version beside the running state, as the layers want them. */
  parametersOf(version: WeightVersion): Parameters
  /** Keep a version until it is released as often as it was held. */
  hold(version: WeightVersion): void
  release(version: WeightVersion): void
  /** A version beside the newest, held once for the caller. When `next` throws, nothing is left of it. */
  derive(next: NextTensor): WeightVersion
  /** Replace the newest trained weights. The old version stays while it is held. */
  advance(next: NextTensor): void
  /** Replace running state. */
  advanceRunning(next: NextTensor): void
  dispose(): void
}

interface Version extends WeightVersion {
  readonly trained: Map<string, Tensor>
  holds: number
}

/** All zero. */
export function createWeights(layout: StateLayout): Weights {
  const owners = createOwners()
  const zero = ({ name, shape }: Placed) => [name, owners.adopt(tf.zeros([...shape]))] as const
  let newest: Version = { trained: new Map(layout.trained.map(zero)), holds: 1 }
  const running = new Map(layout.untrained.map(zero))

  const release = (version: WeightVersion) => {
    const known = version as Version
    if (--known.holds > 0) return
    for (const tensor of known.trained.values()) owners.drop(tensor)
    known.trained.clear()
  }
  const derive = (next: NextTensor): Version => {
    const version: Version = { trained: new Map(), holds: 1 }
    try {
      for (const placed of layout.trained)
        version.trained.set(placed.name, owners.adopt(next(placed, tensorOf(newest.trained, placed))))
    } catch (thrown) {
      release(version)
      throw thrown
    }
    return version
  }
  return {
    get newest() {
      return newest
    },
    get newestIsHeld() {
      return newest.holds > 1
    },
    parametersOf: ({ trained }) => new Map([...trained, ...running]),
    hold(version) {
      ;(version as Version).holds += 1
    },
    release,
    derive,
    advance(next) {
      if (newest.holds === 1) {
        owners.replace(newest.trained, layout.trained, next)
        return
      }
      const before = newest
      newest = derive(next)
      release(before)
    },
    advanceRunning(next) {
      owners.replace(running, layout.untrained, next)
    },
    dispose() {
      owners.dispose()
    },
  }
}

/**
 * The changes that micro-batches make to running state: running = momentum·running + (1 − momentum)·batch.
 * Disposes the statistics.
 */
export function followStatistics(weights: Weights, statistics: readonly BatchStatistics[]): void {
  const seen = new Map<string, { readonly batch: Tensor; readonly momentum: number }>()
  for (const { meanName, mean, varianceName, variance, momentum } of statistics) {
    seen.set(meanName, { batch: mean, momentum })
    seen.set(varianceName, { batch: variance, momentum })
  }
  weights.advanceRunning(({ name }, before) => {
    const found = seen.get(name)
    if (found === undefined) return before
    const { batch, momentum } = found
    return tf.tidy(() => tf.add(tf.mul(before, momentum), tf.mul(batch, 1 - momentum)))
  })
  for (const { batch } of seen.values()) batch.dispose()
}

function tensorOf(tensors: ReadonlyMap<string, Tensor>, placed: Placed): Tensor {
  const tensor = tensors.get(placed.name)
  if (tensor === undefined) throw new InvariantError(`the stage holds no ${placed.name}`)
  return tensor
}

/** How many versions share a tensor; the last one that drops it disposes it. */
function createOwners() {
  const counts = new Map<Tensor, number>()
  const adopt = (tensor: Tensor): Tensor => {
    const count = (counts.get(tensor) ?? 0) + 1
    counts.set(tensor, count)
    // Only what is new is kept here: a failed operation disposes all that it kept.
    return count === 1 ? tf.keep(tensor) : tensor
  }
  const drop = (tensor: Tensor): void => {
    const left = (counts.get(tensor) ?? 1) - 1
    counts.set(tensor, left)
    if (left > 0) return
    counts.delete(tensor)
    tensor.dispose()
  }
  return {
    adopt,
    drop,
    /** Replace entries one by one, so that at most one parameter lives twice. */
    replace(tensors: Map<string, Tensor>, places: readonly Placed[], next: NextTensor): void {
      for (const placed of places) {
        const before = tensorOf(tensors, placed)
        const after = next(placed, before)
        if (after === before) continue
        tensors.set(placed.name, adopt(after))
        drop(before)
      }
    },
    dispose(): void {
      for (const tensor of counts.keys()) tensor.dispose()
      counts.clear()
    },
  }
}
