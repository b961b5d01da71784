/** Starts a TensorFlow.js engine in a thread of its own. The calling thread loads nothing of TensorFlow.js. */
import { Worker } from 'node:worker_threads'
import { type EngineThread, connectEngine } from '../protocol.ts'
import { quietTensorflow } from './native/quiet.ts'
import type { TfjsEngineSettings } from './stage-engine.ts'

/** @throws InvalidInputError when the backend does not open; EngineDiedError when the thread cannot start */
export function startEngineThread(settings: TfjsEngineSettings): Promise<EngineThread> {
  const { backend } = settings
  quietTensorflow()
  return connectEngine(
    new Worker(new URL('./worker.ts', import.meta.url), { workerData: { backend }, name: 'engine' }),
  )
}
