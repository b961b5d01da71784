/** The tensors of TensorFlow.js's wasm backend as our kernels see them: floats on its heap. */
import * as tf from '@tensorflow/tfjs'
import type { TensorInfo } from '@tensorflow/tfjs'
import { DeviceMemoryError, InvariantError } from '../../../../../shared/errors.ts'
import { elementCount } from '../../../../../shared/tensor.ts'

/** What we use of the backend; checked once in `openHeap`. Version 4.22. */
interface WasmBackend {
  readonly wasm: {
    readonly asm: Readonly<Record<string, unknown>>
    /** Replaced by the module whenever its memory grows: never keep it across an allocation. */
    readonly HEAPF32: Float32Array
    readonly HEAP32: Int32Array
    readonly _malloc: (bytes: number) => number
    readonly _free: (address: number) => void
  }
  readonly dataIdMap: { get: (dataId: object) => { readonly memoryOffset: number } }
  readonly makeOutput: (shape: readonly number[], dtype: 'float32') => TensorInfo
}

/** The heap of the wasm backend of this thread. */
export interface Heap {
  readonly memory: WebAssembly.Memory
  /** All floats; valid until the next `output` or `scratch`. */
  floats(): Float32Array
  /** All 32-bit integers; valid until the next `output` or `scratch`. */
  integers(): Int32Array
  /** Address of a tensor's first element, in bytes. */
  address(tensor: TensorInfo): number
  /** A new float32 tensor whose elements are undefined; it belongs to the kernel's caller. @throws DeviceMemoryError */
  output(shape: readonly number[]): TensorInfo
  /** Address of at least so many bytes that hold nothing between kernels. Grows, never shrinks. @throws DeviceMemoryError */
  scratch(bytes: number): number
}

/** The address that the heap gave, unless it has no more to give: its malloc says so with 0. @throws DeviceMemoryError */
function allocated(address: number, bytes: number): number {
  if (address === 0)
    throw new DeviceMemoryError(
      `the wasm heap has no ${bytes} bytes left; use a smaller stage or micro-batch`,
    )
  return address
}

/** @throws InvariantError when the current backend is not the wasm backend this was written for */
export function openHeap(): Heap {
  const backend = tf.backend() as unknown as WasmBackend
  const memory = (backend as Partial<WasmBackend>).wasm?.asm['memory']
  if (!(memory instanceof WebAssembly.Memory))
    throw new InvariantError('the wasm backend of TensorFlow.js has no memory that our kernels can share')
  let spare = { address: 0, bytes: 0 }
  return {
    memory,
    floats: () => backend.wasm.HEAPF32,
    integers: () => backend.wasm.HEAP32,
    address: (tensor) => backend.dataIdMap.get(tensor.dataId).memoryOffset,
    output(shape) {
      const output = backend.makeOutput(shape, 'float32')
      allocated(backend.dataIdMap.get(output.dataId).memoryOffset, 4 * elementCount(shape))
      return output
    },
    scratch(bytes) {
      if (bytes > spare.bytes) {
        if (spare.bytes > 0) backend.wasm._free(spare.address)
        spare = { address: 0, bytes: 0 }
        spare = { address: allocated(backend.wasm._malloc(bytes) >>> 0, bytes), bytes }
      }
      return spare.address
    },
  }
}
