/** The memory of one engine: one WebAssembly memory, blocks in it, and how much is lent. */
import { DeviceMemoryError } from '../../../../../shared/errors.ts'
import { type Bytes, bytesPerFloat, mebibyte } from '../../../../../shared/units.ts'
import type { EngineMemory } from '../../../../core/ports.ts'
import { createFreeList } from './free-list.ts'

const pageBytes = 65_536
/** The kernels' constants lie below. */
const firstAddress = pageBytes
/** Kernels read whole vectors and tiles: so far beyond the end of a block, never more. */
const slackBytes = 256

/** A piece of the heap. */
export interface Block {
  readonly address: number
  readonly bytes: Bytes
}

/** Blocks hold anything: whoever allocates fills them. Views are only good until the next allocation. */
export interface Heap {
  readonly memory: WebAssembly.Memory
  /** @throws DeviceMemoryError when it went beyond the budget or the machine has no more; nothing changed */
  allocate(bytes: Bytes): Block
  free(block: Block): void
  /** What describes the work but is no tensor: some kilobytes, not counted. */
  allocateUncounted(bytes: Bytes): Block
  freeUncounted(block: Block): void
  /** True when so many bytes more stay within the budget. */
  fits(more: Bytes): boolean
  floats(address: number, length: number): Float32Array
  ints(address: number, length: number): Int32Array
  read(): EngineMemory
}

/** An empty heap. @param budget - bytes; 0: no limit */
export function createHeap(budget: Bytes): Heap {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: pageBytes, shared: true })
  const list = createFreeList(firstAddress)
  const own = { tensors: 0, bytes: 0, peakBytes: 0 }
  const fits = (more: Bytes) => budget === 0 || own.bytes + more <= budget
  const take = (bytes: Bytes): Block => {
    const address = list.take(bytes)
    try {
      growTo(memory, list.top + slackBytes)
    } catch {
      list.give(address, bytes)
      throw new DeviceMemoryError(
        `this machine has no ${size(bytes)} of memory left for the stage; give it fewer layers`,
      )
    }
    return { address, bytes }
  }
  const give = ({ address, bytes }: Block) => {
    list.give(address, bytes)
  }
  return {
    memory,
    fits,
    allocate(bytes) {
      if (!fits(bytes)) throw overBudget(own.bytes + bytes, budget)
      const block = take(bytes)
      own.tensors += 1
      own.bytes += bytes
      own.peakBytes = Math.max(own.peakBytes, own.bytes)
      return block
    },
    free(block) {
      own.tensors -= 1
      own.bytes -= block.bytes
      give(block)
    },
    allocateUncounted: take,
    freeUncounted: give,
    floats: (address, length) => new Float32Array(memory.buffer, address, length),
    ints: (address, length) => new Int32Array(memory.buffer, address, length),
    read: () => ({ ...own }),
  }
}

/** A block of zeros. */
export function allocateZeros(heap: Heap, bytes: Bytes): Block {
  const block = heap.allocate(bytes)
  heap.floats(block.address, bytes / bytesPerFloat).fill(0)
  return block
}

/** @throws RangeError when the machine has no more */
function growTo(memory: WebAssembly.Memory, bytes: Bytes): void {
  const missing = bytes - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / pageBytes))
}

const size = (bytes: Bytes) => `${(bytes / mebibyte).toFixed(1)} MiB`

function overBudget(needed: Bytes, budget: Bytes): DeviceMemoryError {
  return new DeviceMemoryError(
    `this stage needs ${size(needed)} of tensor memory, but ${size(budget)} is lent; lend more or give it fewer layers`,
  )
}
