/** The engine's thread: serves one engine on our own kernels to the thread that started it. */
import { parentPort, workerData } from 'node:worker_threads'
import { InvariantError } from '../../../../shared/errors.ts'
import { serveEngine } from '../protocol.ts'
import { type WasmEngineSettings, createWasmEngine } from './stage-engine.ts'

if (parentPort === null) throw new InvariantError('this file runs as a worker thread')
await serveEngine(parentPort, () => Promise.resolve(createWasmEngine(workerData as WasmEngineSettings)))
