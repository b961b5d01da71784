/**
 * Counts the tensor memory of one engine, exactly, and refuses what goes beyond its budget.
 *
 * Bytes are those of `tf.memory().numBytes`: every living tensor counts its elements, views and saved clones
 * included. TensorFlow.js runs an operation in one go on its thread, so what an operation adds to the
 * thread's count belongs to the engine that runs it: several engines may share a thread.
 *
 * The peak is seen through three places of tfjs-core 4.22 that are not part of its public face (a test keeps
 * watch): the byte count of its state, its `keep`, and its `runKernelFunc`.
 */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { DeviceMemoryError } from '../../../../shared/errors.ts'
import { type Bytes, mebibyte } from '../../../../shared/units.ts'
import type { EngineMemory } from '../../../core/ports.ts'

/** The parts of tfjs's engine that are watched. */
interface TfjsInternals {
  readonly state: {
    numBytes: number
    readonly numTensors: number
    activeTape: readonly { readonly saved: readonly Tensor[] }[] | null
  }
  keep: (tensor: Tensor) => Tensor
  runKernelFunc: (call: unknown) => unknown
}

/** What is seen of the operation that runs now; one a thread, as tfjs itself. */
interface Watch {
  /** Largest byte count of the thread since it was last set. */
  highest: Bytes
  /** Bytes of this thread that are not the engine's. */
  others: Bytes
  /** Bytes of the engine above which a kernel is the last of its operation. */
  limit: Bytes
  /** Tensors that the operation keeps beyond its scope. */
  kept: Tensor[]
}

let watch: Watch | undefined

/** Tensor memory of one engine. */
export interface MemoryMeter {
  /**
   * Run one operation in a tf.tidy; what it keeps or returns is the engine's. When it throws, nothing of it is left.
   * @throws DeviceMemoryError when it went beyond the budget
   */
  run<T>(work: () => T): T
  /** The same for work that must not stop halfway: no budget. */
  settle<T>(work: () => T): T
  /** @throws DeviceMemoryError when so many bytes more would go beyond the budget */
  require(more: Bytes): void
  read(): EngineMemory
}

/** A meter that starts at nothing. @param budget - bytes; 0: no limit */
export function createMemoryMeter(budget: Bytes): MemoryMeter {
  const own = { tensors: 0, bytes: 0, peakBytes: 0 }
  const within = <T>(limit: Bytes, work: () => T): T => {
    const seen = (watch ??= watchThread())
    const { state } = internals()
    const before = { tensors: state.numTensors, bytes: state.numBytes }
    Object.assign(seen, { highest: before.bytes, others: before.bytes - own.bytes, limit, kept: [] })
    try {
      return tf.tidy(work as () => tf.TensorContainer) as T
    } catch (thrown) {
      forget(seen.kept)
      throw thrown
    } finally {
      own.peakBytes = Math.max(own.peakBytes, own.bytes + seen.highest - before.bytes)
      own.bytes += state.numBytes - before.bytes
      own.tensors += state.numTensors - before.tensors
      Object.assign(seen, { limit: Infinity, kept: [] })
    }
  }
  return {
    run: (work) => within(budget > 0 ? budget : Infinity, work),
    settle: (work) => within(Infinity, work),
    require(more) {
      if (budget > 0 && own.bytes + more > budget) throw overBudget(own.bytes + more, budget)
    },
    read: () => ({ ...own }),
  }
}

function overBudget(needed: Bytes, budget: Bytes): DeviceMemoryError {
  const size = (bytes: Bytes) => `${(bytes / mebibyte).toFixed(1)} MiB`
  return new DeviceMemoryError(
    `this stage needs ${size(needed)} of tensor memory, but ${size(budget)} is lent; lend more or give it fewer layers`,
  )
}

const internals = () => tf.engine() as unknown as TfjsInternals

/** Watch this thread's tfjs from now on. */
function watchThread(): Watch {
  const engine = internals()
  const { state } = engine
  const seen: Watch = { highest: 0, others: 0, limit: Infinity, kept: [] }
  let bytes = state.numBytes
  Object.defineProperty(state, 'numBytes', {
    get: () => bytes,
    set(next: number) {
      bytes = next
      if (next > seen.highest) seen.highest = next
    },
  })
  const keep = engine.keep.bind(engine)
  engine.keep = (tensor) => {
    seen.kept.push(tensor)
    return keep(tensor)
  }
  const runKernelFunc = engine.runKernelFunc.bind(engine)
  engine.runKernelFunc = (call) => {
    const outputs = runKernelFunc(call)
    // After the kernel, so that tfjs's own books are in order; the scope around it disposes the outputs.
    if (bytes - seen.others > seen.limit) throw overBudget(bytes - seen.others, seen.limit)
    return outputs
  }
  return seen
}

/** Undo the keeping of a failed operation: its own tensors and those that tfjs saved for its gradients. */
function forget(kept: readonly Tensor[]): void {
  for (const tensor of kept) tensor.dispose()
  internals().state.activeTape = null
}
