/**
 * Threads that help with kernels. They live inside WebAssembly: a job costs no message, and a helper that is late, or
 * whose core does something else, is not waited for. Results are the same bits for any number of threads.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { readFileSync } from 'node:fs'
import { type Millis, second } from '../../../../shared/units.ts'
import { EngineDiedError } from '../protocol.ts'
import { moduleOf, openKernels } from './kernel-module.ts'
import type { KernelName, KernelWidth } from './kernels.ts'
import type { Heap } from './memory/heap.ts'
import type { RunKernel } from './plan.ts'

/** Numbers of the kernels that may be shared, as they were compiled. */
const numbers = JSON.parse(
  readFileSync(new URL('./generated/numbers.json', import.meta.url), 'utf8'),
) as Partial<Record<KernelName, number>>

/** What a helping thread is started with. */
export interface HelperStart {
  readonly module: WebAssembly.Module
  readonly memory: WebAssembly.Memory
  readonly control: number
  readonly scratch: number
  readonly thread: number
}

export interface ThreadPool {
  readonly run: RunKernel
  /** Ends the helpers, which are asleep or about to be. */
  stop(): void
}

const controlBytes = 512
/** Where the control block has its parts; see `kernels/share.ts`. */
const [wakeAt, quitAt, givenAt] = [8, 20, 64]
export const lostAt = 40

/** Chunks of a kernel's work are whole multiples: rows of a tile, a cache line of columns, or enough to be worth it. */
const grains: Partial<Record<KernelName, number>> = {
  ...{
    multiply: 6,
    multiplyColumns: 16,
    multiplyTransposed: 6,
    convolve: 6,
    convolveFilters: 16,
    convolveTransposed: 1,
  },
  ...{ batchNorm: 16, batchNormBack: 16, columnSums: 16, embedBack: 16, layerNormParameters: 16 },
  ...{ attend: 1, attendBack: 1, averagePool: 1, maxPool: 1, maxPoolBack: 1, addToRows: 1 },
  ...{ crossEntropy: 8, embed: 8, layerNorm: 8, layerNormBack: 8, batchNormRunning: 8, spread: 8 },
}
const elementGrain = 4096
/** Products smaller than this are not worth waking anybody: some 10 µs. */
const leastProduct = 500_000
/** Chunks a thread: few, since each packs for itself, but enough that one slow thread does not hold up all. */
const chunksPerThread = 2

export interface PoolSettings {
  readonly threads: number
  /** How long to wait for a helper's chunk, which takes well below a second; a PC may swap or be taken by others. */
  readonly patienceMs?: Millis
  /** What a helper runs. */
  readonly helper?: URL
}

const ownHelper = new URL('./helper.ts', import.meta.url)

/**
 * Kernels on a heap, run by so many threads: this one and its helpers. A run throws EngineDiedError from when a helper
 * was lost within its work: what the heap holds is not to be trusted any more.
 */
export async function createThreadPool(
  heap: Heap,
  width: KernelWidth,
  { threads, patienceMs = 30 * second, helper = ownHelper }: PoolSettings,
): Promise<ThreadPool> {
  const kernels = openKernels(heap, width)
  const alone: RunKernel = (name, units, ...given) => kernels[name](0, units, ...given)
  if (threads < 2) return { run: alone, stop: () => undefined }
  const control = heap.allocateUncounted(controlBytes).address
  heap.ints(control, controlBytes / 4).fill(0)
  const words = new Int32Array(heap.memory.buffer, control, controlBytes / 4)
  const given = new Float64Array(heap.memory.buffer, control + givenAt, (controlBytes - givenAt) / 8)
  const starts = Array.from({ length: threads - 1 }, (_, index) => ({
    ...{ module: moduleOf(width), memory: heap.memory, control, thread: index + 1 },
    scratch: heap.allocateUncounted(kernels.scratchBytes()).address,
  }))
  await Promise.all(starts.map((start) => startHelper(helper, start)))
  let lost = false
  return {
    run(name, units, ...numbersGiven) {
      if (lost) throw helperLost()
      const grain = grains[name] ?? elementGrain
      const kernel = numbers[name]
      if (kernel === undefined || units < 2 * grain || isSmall(name, units, numbersGiven))
        return alone(name, units, ...numbersGiven)
      kernels.closeTicket(control)
      given.set(numbersGiven)
      lost = kernels.share(control, kernel, units, chunkOf(units, grain, threads), patienceMs) === 0
      if (lost) throw helperLost()
      return 0
    },
    stop() {
      Atomics.store(words, quitAt / 4, 1)
      Atomics.add(words, wakeAt / 4, 1)
      Atomics.notify(words, wakeAt / 4)
    },
  }
}

const helperLost = () =>
  new EngineDiedError('a thread of the engine ended within its work; load the stage again')

/** Units of a chunk: a share of all, in whole grains. */
function chunkOf(units: number, grain: number, threads: number): number {
  return Math.ceil(units / (threads * chunksPerThread) / grain) * grain
}

const products: readonly KernelName[] = ['multiply', 'multiplyColumns', 'multiplyTransposed']

/** Products are given their two other sides first. */
function isSmall(name: KernelName, units: number, [side = 1, other = 1]: readonly number[]): boolean {
  return products.includes(name) && units * side * other < leastProduct
}

/**
 * Resolves when it is about to help: a thread does not start while its parent computes without a pause.
 * The process may end while it sleeps.
 */
async function startHelper(helper: URL, start: HelperStart): Promise<void> {
  const worker = new Worker(helper, { workerData: start, name: 'kernels' })
  await once(worker, 'message')
  // Whoever waits for its work learns of its end from the control block.
  worker.on('error', () => undefined)
  worker.unref()
}
