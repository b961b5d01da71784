/**
 * The GPU behind TensorFlow.js's WebGPU backend: calls fail with it, and its memory keeps to the budget.
 *
 * Reaches into tfjs-backend-webgpu 4.22: its `device` and its `bufferManager` (a test keeps watch).
 */
import * as tf from '@tensorflow/tfjs'
import {
  DeviceLostError,
  DeviceMemoryError,
  InvariantError,
  type PoolError,
} from '../../../../../shared/errors.ts'
import type { Bytes } from '../../../../../shared/units.ts'

/** Parts of a GPUDevice and of the backend. */
interface Device extends EventTarget {
  readonly lost: Promise<{ readonly message: string }>
}

interface GpuBuffer {
  readonly size: Bytes
  destroy(): void
}

interface BufferManager {
  readonly freeBuffers: Map<string, GpuBuffer[]>
  numFreeBuffers: number
  numBytesAllocated: Bytes
  acquireBuffer(size: Bytes, usage: number, ...rest: unknown[]): GpuBuffer
}

interface WebgpuBackend {
  readonly device: Device
  readonly bufferManager: BufferManager
}

/** What goes wrong on a device besides what calls throw. */
export interface DeviceWatch {
  /** Resolves when the device is gone. */
  readonly lost: Promise<DeviceLostError>
  /** Run a call; what the device reported since the last one is its failure, too. @throws DeviceLostError, DeviceMemoryError */
  guard<T>(call: () => T | Promise<T>): Promise<T>
  /** Give unused buffers back before more than so many bytes are allocated. 0: no limit. */
  limit(bytes: Bytes): void
}

/** Watch the device of the WebGPU backend that is set; one a thread, whoever asks. */
export function watchDevice(): DeviceWatch {
  const backend = tf.backend() as unknown as WebgpuBackend
  let watch = watches.get(backend.device)
  if (watch === undefined) watches.set(backend.device, (watch = startWatch(backend)))
  return watch
}

const watches = new WeakMap<Device, DeviceWatch>()

function startWatch({ device, bufferManager }: WebgpuBackend): DeviceWatch {
  const waiting = new Set<(reason: PoolError) => void>()
  const seen: { gone?: DeviceLostError; fault?: PoolError | undefined } = {}
  const lost = device.lost.then(({ message }) => {
    const gone = new DeviceLostError(
      `the GPU is gone (${message.trim() || 'no reason given'}); train on another backend`,
    )
    seen.gone = gone
    for (const reject of waiting) reject(gone)
    return gone
  })
  device.addEventListener('uncapturederror', (event) => {
    event.preventDefault()
    seen.fault ??= faultOf((event as unknown as { readonly error: Error }).error)
  })

  /** Why a call fails: a lost device before all else. */
  const reasonOf = (thrown: unknown) => seen.gone ?? thrown
  const checked = async <T>(call: () => T | Promise<T>): Promise<T> => {
    const result = await call()
    // What the device reported comes as events after the answer.
    await nextTurn()
    const { fault } = seen
    seen.fault = undefined
    if (fault !== undefined) throw fault
    return result
  }
  return {
    lost,
    async guard(call) {
      if (seen.gone !== undefined) throw seen.gone
      const leaving = Promise.withResolvers<never>()
      waiting.add(leaving.reject)
      try {
        return await Promise.race([checked(call), leaving.promise])
      } catch (thrown) {
        // A call that failed for the loss may know it first.
        await nextTurn()
        throw reasonOf(thrown)
      } finally {
        waiting.delete(leaving.reject)
      }
    },
    limit: limitOf(bufferManager),
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A GPUError; its class is its kind. */
function faultOf({ constructor, message }: Error): PoolError {
  const [line = ''] = message.split('\n')
  return constructor.name === 'GPUOutOfMemoryError'
    ? new DeviceMemoryError(`the GPU has no memory left; lend less of it (${line})`)
    : new InvariantError(`the GPU refused a command: ${line}`)
}

/** Freed buffers are kept for the next tensor of their size, all of them for ever: the budget ends that. */
function limitOf(manager: BufferManager): (bytes: Bytes) => void {
  let limit: Bytes = 0
  const acquire = manager.acquireBuffer.bind(manager)
  manager.acquireBuffer = (size, usage, ...rest) => {
    const reusable = (manager.freeBuffers.get(`${size}_${usage}`)?.length ?? 0) > 0
    if (limit > 0 && !reusable && manager.numBytesAllocated + size > limit) dropUnused(manager)
    return acquire(size, usage, ...rest)
  }
  return (bytes) => {
    limit = bytes
    if (limit > 0 && manager.numBytesAllocated > limit) dropUnused(manager)
  }
}

/** No command that waits names a freed buffer: tfjs frees what commands name once they are submitted. */
function dropUnused(manager: BufferManager): void {
  for (const buffers of manager.freeBuffers.values()) {
    for (const buffer of buffers) {
      buffer.destroy()
      manager.numBytesAllocated -= buffer.size
      manager.numFreeBuffers--
    }
    buffers.length = 0
  }
}
