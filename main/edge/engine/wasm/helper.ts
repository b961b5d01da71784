/** A thread that helps with kernels until it is told to end. */
import { parentPort, workerData } from 'node:worker_threads'
import { instantiate } from './kernels.ts'
import { type HelperStart, lostAt } from './thread-pool.ts'

const { module, memory, control, scratch, thread } = workerData as HelperStart
const kernels = instantiate(module, memory)
kernels.useScratch(scratch, thread)
parentPort?.postMessage('ready')
try {
  kernels.help(control)
} catch (thrown) {
  // Its chunk will never be done: nobody is to wait for it.
  Atomics.store(new Int32Array(memory.buffer), (control + lostAt) / 4, 1)
  throw thrown
}
