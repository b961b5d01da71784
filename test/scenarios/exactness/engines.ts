/** Engines for the tests of one file: opened before the first, emptied after the last. */
import { afterAll, beforeAll } from 'vitest'
import type { StageEngine } from '../../../main/core/ports.ts'
import { openBackend } from '../../../main/edge/engine/tfjs/backends.ts'
import { createTfjsEngine } from '../../../main/edge/engine/tfjs/stage-engine.ts'
import { createWasmEngine } from '../../../main/edge/engine/wasm/stage-engine.ts'

/** A backend of TensorFlow.js, or our own kernels. */
export type EngineName = 'wasm' | 'cpu' | 'kernels'

/**
 * Call inside a describe. All TensorFlow.js engines of this thread compute on the backend opened last, and so does a
 * test's oracle; our own kernels stand on their own, with an oracle on cpu.
 */
export function openEngines(name: EngineName, count: number): { engines: readonly StageEngine[] } {
  const opened: { engines: readonly StageEngine[] } = { engines: [] }
  const open = (): Promise<StageEngine> =>
    name === 'kernels'
      ? Promise.resolve(createWasmEngine({ kernels: 'auto', threads: 1 }))
      : createTfjsEngine({ backend: name })
  beforeAll(async () => {
    opened.engines = await Promise.all(Array.from({ length: count }, open))
    if (name === 'kernels') await openBackend('cpu')
  })
  afterAll(() => Promise.all(opened.engines.map((engine) => engine.unload())))
  return opened
}
