/** All that the engine calls. Kernels take a range [from, to) of their work first, so that threads can share it. */
export { scratchBytes, useScratch } from './scratch'
export { multiply } from './multiply'
export { multiplyTransposed } from './multiply-transposed'
