/** Tries one backend and says what came of it. */
import { parentPort, workerData } from 'node:worker_threads'
import type { BackendName } from './backend-names.ts'
import { tryBackend } from './backends.ts'

parentPort?.postMessage(await tryBackend(workerData as BackendName))
