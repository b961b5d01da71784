/** Starts an engine on our own kernels in a thread of its own. */
import { Worker } from 'node:worker_threads'
import { type EngineThread, connectEngine } from '../protocol.ts'
import type { WasmEngineSettings } from './stage-engine.ts'

/** @throws EngineDiedError when the thread cannot start */
export function startWasmEngineThread({ kernels, threads }: WasmEngineSettings): Promise<EngineThread> {
  return connectEngine(
    new Worker(new URL('./worker.ts', import.meta.url), { workerData: { kernels, threads }, name: 'engine' }),
  )
}
