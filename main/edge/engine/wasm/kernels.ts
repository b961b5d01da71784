/** What the compiled kernels are called by: the exports of `kernels/module.ts`. */
export type KernelWidth = 'wide' | 'narrow'

/** The kernels that work on a range [from, to) of something, which may be shared between threads. */
export type KernelName =
  | 'adamMoments'
  | 'adamStep'
  | 'add'
  | 'addToRows'
  | 'attend'
  | 'attendBack'
  | 'averagePool'
  | 'batchNorm'
  | 'batchNormBack'
  | 'batchNormRunning'
  | 'columnSums'
  | 'convolve'
  | 'convolveFilters'
  | 'convolveTransposed'
  | 'crossEntropy'
  | 'dropout'
  | 'embed'
  | 'embedBack'
  | 'gelu'
  | 'geluBack'
  | 'layerNorm'
  | 'layerNormBack'
  | 'layerNormParameters'
  | 'maxPool'
  | 'maxPoolBack'
  | 'mix'
  | 'multiply'
  | 'multiplyColumns'
  | 'multiplyTransposed'
  | 'relu'
  | 'reluBack'
  | 'sgd'
  | 'sgdAhead'
  | 'silu'
  | 'siluBack'
  | 'spread'
  | 'squaredError'
  | 'squares'

/** Kernels take addresses and numbers; those that return nothing return undefined. */
export type Kernels = Readonly<Record<KernelName, (...given: readonly number[]) => number>>

/** Beside the kernels: what threads need to share them. */
export interface OpenKernels extends Kernels {
  readonly scratchBytes: () => number
  readonly useScratch: (address: number, thread: number) => void
  readonly closeTicket: (control: number) => void
  /** Control block, kernel, units, grain, patience in milliseconds. */
  readonly share: (...given: readonly number[]) => number
  readonly help: (control: number) => void
}

export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): OpenKernels {
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as OpenKernels
}
