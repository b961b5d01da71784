/** The engine's thread: serves one TensorFlow.js engine to the thread that started it. */
import { parentPort, workerData } from 'node:worker_threads'
import { InvariantError } from '../../../../shared/errors.ts'
import { serveEngine } from '../protocol.ts'
import { type TfjsEngineSettings, createTfjsEngine } from './stage-engine.ts'

if (parentPort === null) throw new InvariantError('this file runs as a worker thread')
await serveEngine(parentPort, () => createTfjsEngine(workerData as TfjsEngineSettings))
