/** Which TensorFlow.js backends this machine can run, and opening one of them in this thread. */
import { fileURLToPath } from 'node:url'
import * as tf from '@tensorflow/tfjs'
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm'
import { InvalidInputError, PoolError } from '../../../../shared/errors.ts'
import type { BackendName, BackendProbe } from './backend-names.ts'
import { registerWasmKernels } from './kernels/register.ts'
import { loadNative } from './native/load.ts'
import { type Adapter, loadWebgpu, nameOf } from './webgpu/load.ts'

/** Tried in this order. WebGPU is taken only when it is asked for. */
const automaticOrder: readonly BackendName[] = ['node-gpu', 'node', 'wasm', 'cpu']

/** A backend that can be set: the name that tf knows it by, and what it runs on. */
interface Ready {
  readonly known: string
  readonly adapter?: Adapter
}

/** Make a backend ready to be set. @throws InvalidInputError with the reason, anything when it cannot be loaded */
const loaders: Readonly<Record<BackendName, () => Ready | Promise<Ready>>> = {
  'node-gpu': async () => ({ known: await loadNative('@tensorflow/tfjs-node-gpu') }),
  node: async () => ({ known: await loadNative('@tensorflow/tfjs-node') }),
  webgpu: loadWebgpu,
  wasm: loadWasm,
  cpu: () => ({ known: 'cpu' }),
}

/**
 * Set the backend of this thread.
 *
 * @returns the name of the backend that was set; for `auto` the first that opens
 * @throws InvalidInputError when the one asked for does not open here
 */
export async function openBackend(name: BackendName | 'auto'): Promise<BackendName> {
  const reasons: string[] = []
  for (const candidate of name === 'auto' ? automaticOrder : [name]) {
    const probe = await tryBackend(candidate)
    if (probe.loaded) return candidate
    reasons.push(`${candidate}: ${probe.reason}`)
  }
  throw new InvalidInputError(
    `the tensor backend does not open (${reasons.join(' ')}); choose "auto" or "cpu"`,
  )
}

/** Try to set a backend in this thread; when it does not open, the one before stays. */
export async function tryBackend(name: BackendName): Promise<BackendProbe> {
  // Without its advice to install something else, printed to everybody's terminal.
  tf.enableProdMode()
  // Undefined before any was set, whatever tf's types say.
  const before = tf.getBackend() as string | undefined
  try {
    const { known, adapter } = await loaders[name]()
    // With no adapter setBackend returns false and tfjs goes on with another backend: both are checked.
    const set = await withoutNewCrashHandlers(() => tf.setBackend(known))
    if (!set || tf.getBackend() !== known)
      throw new InvalidInputError('It is installed, but TensorFlow.js could not start it on this machine.')
    if (name === 'wasm') registerWasmKernels()
    const reason = adapter === undefined ? 'It is installed and starts.' : `It starts on ${nameOf(adapter)}.`
    return { name, loaded: true, reason, ...(adapter && { adapter }) }
  } catch (thrown) {
    // A native package sets itself while it is loaded.
    if (before !== undefined && tf.getBackend() !== before) await tf.setBackend(before)
    return { name, loaded: false, reason: reasonOf(thrown) }
  }
}

const crashEvents = ['uncaughtException', 'unhandledRejection'] as const

/** Emscripten's start-up adds handlers to the process that throw again whatever the program would have handled. */
async function withoutNewCrashHandlers<T>(start: () => T | Promise<T>): Promise<T> {
  const before = crashEvents.map((event) => new Set<unknown>(process.listeners(event as 'uncaughtException')))
  try {
    return await start()
  } finally {
    crashEvents.forEach((event, index) => {
      for (const listener of process.listeners(event as 'uncaughtException'))
        if (before[index]?.has(listener) === false) process.removeListener(event, listener)
    })
  }
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof PoolError) return thrown.message
  const [line = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')
  return `It does not load: ${line}.`
}

function loadWasm(): Ready {
  // Its threads start from a blob URL, which plain Node does not load as a worker.
  tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false)
  setWasmPaths(fileURLToPath(new URL('./', import.meta.resolve('@tensorflow/tfjs-backend-wasm'))))
  return { known: 'wasm' }
}
