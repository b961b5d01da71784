/** The backends of TensorFlow.js by name, for threads that load nothing of it. */
import type { Adapter } from './webgpu/load.ts'

/** Backends by the names of the settings file, without `auto`. */
export const backendNames = ['node-gpu', 'node', 'webgpu', 'wasm', 'cpu'] as const
export type BackendName = (typeof backendNames)[number]

/** Whether a backend can be opened here, and why (not) in one sentence. */
export interface BackendProbe {
  readonly name: BackendName
  readonly loaded: boolean
  readonly reason: string
  /** The GPU that WebGPU computes on. */
  readonly adapter?: Adapter
}
