/** TensorFlow.js engines for the tests of one file: opened before the first, emptied after the last. */
import { afterAll, beforeAll } from 'vitest'
import type { StageEngine } from '../../../main/core/ports.ts'
import { createTfjsEngine } from '../../../main/edge/engine/tfjs/stage-engine.ts'

/** Call inside a describe. All engines of this thread compute on the backend opened last, and so does a test's oracle. */
export function openEngines(backend: 'wasm' | 'cpu', count: number): { engines: readonly StageEngine[] } {
  const opened: { engines: readonly StageEngine[] } = { engines: [] }
  beforeAll(async () => {
    opened.engines = await Promise.all(Array.from({ length: count }, () => createTfjsEngine({ backend })))
  })
  afterAll(() => Promise.all(opened.engines.map((engine) => engine.unload())))
  return opened
}
