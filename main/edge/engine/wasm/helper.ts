/** A thread that helps with kernels until it is told to end. */
import { parentPort, workerData } from 'node:worker_threads'
import { instantiate } from './kernels.ts'
import type { HelperStart } from './thread-pool.ts'

const { module, memory, control, scratch, thread } = workerData as HelperStart
const kernels = instantiate(module, memory)
kernels.useScratch(scratch, thread)
parentPort?.postMessage('ready')
kernels.help(control)
