/** A helper that is ended within a chunk, as when its thread runs out of memory. */
import { parentPort, workerData } from 'node:worker_threads'
import type { HelperStart } from '../../../../../main/edge/engine/wasm/thread-pool.ts'
import { takeChunk } from './take-chunk.ts'

const { memory, control } = workerData as HelperStart
parentPort?.postMessage('ready')
takeChunk(memory, control)
process.exit(1)
