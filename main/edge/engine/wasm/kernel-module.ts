/** The compiled kernels: which of the two modules is quicker here and right, and an instance of it on a heap. */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import type { Heap } from './memory/heap.ts'
import { createHeap } from './memory/heap.ts'
import { type KernelWidth, type OpenKernels, instantiate } from './kernels.ts'
import { productIsRight, timeOfProduct } from './probe.ts'

let compiled: { readonly wide: WebAssembly.Module; readonly narrow: WebAssembly.Module } | undefined

/** V8 widens vectors only with its flag set before the bytes are compiled for the first time in a process. */
function modules() {
  setFlagsFromString('--experimental-wasm-revectorize')
  const read = (name: KernelWidth) =>
    new WebAssembly.Module(readFileSync(new URL(`./generated/${name}.wasm`, import.meta.url)))
  compiled ??= { wide: read('wide'), narrow: read('narrow') }
  return compiled
}

/** An instance of the kernels on a heap, with a scratch of its own in it. */
export function openKernels(heap: Heap, width: KernelWidth): OpenKernels {
  const kernels = instantiate(modules()[width], heap.memory)
  kernels.useScratch(heap.allocateUncounted(kernels.scratchBytes()).address, 0)
  return kernels
}

/** What another thread needs for an instance of its own. */
export function moduleOf(width: KernelWidth): WebAssembly.Module {
  return modules()[width]
}

let chosen: KernelWidth | undefined

/**
 * The width that is quicker on this machine, by a product of 192 × 192 matrices; some 35 ms, once a thread.
 * Wide only where it also computes what it should.
 */
export function quickerWidth(): KernelWidth {
  chosen ??= probe()
  return chosen
}

function probe(): KernelWidth {
  const timeOf = (width: KernelWidth): number => {
    const heap = createHeap(0)
    const kernels = openKernels(heap, width)
    return productIsRight(kernels, heap) ? timeOfProduct(kernels, heap) : Infinity
  }
  return timeOf('wide') < timeOf('narrow') ? 'wide' : 'narrow'
}
