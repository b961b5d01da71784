/** A helper that fails within a chunk, and says so as the real one does. */
import { parentPort, workerData } from 'node:worker_threads'
import { type HelperStart, lostAt } from '../../../../../main/edge/engine/wasm/thread-pool.ts'
import { takeChunk } from './take-chunk.ts'

const { memory, control } = workerData as HelperStart
parentPort?.postMessage('ready')
takeChunk(memory, control)
Atomics.store(new Int32Array(memory.buffer), (control + lostAt) / 4, 1)
