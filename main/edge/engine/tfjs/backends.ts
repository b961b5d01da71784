/** Which TensorFlow.js backends this machine can run, and opening one of them in this thread. */
import util from 'node:util'
import { fileURLToPath } from 'node:url'
import * as tf from '@tensorflow/tfjs'
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm'
import { InvalidInputError } from '../../../../shared/errors.ts'
import { registerWasmKernels } from './kernels/register.ts'

/** Backends by the names of the settings file, without `auto`. */
export const backendNames = ['node-gpu', 'node', 'webgpu', 'wasm', 'cpu'] as const
export type BackendName = (typeof backendNames)[number]

/** Tried in this order. WebGPU is taken only when it is asked for. */
const automaticOrder: readonly BackendName[] = ['node-gpu', 'node', 'wasm', 'cpu']

/** Whether a backend can be opened here, and why (not) in one sentence. */
export interface BackendProbe {
  readonly name: BackendName
  readonly loaded: boolean
  readonly reason: string
}

/** Make a backend ready to be set. @returns the name that tf knows it by @throws anything when it cannot be loaded */
const loaders: Readonly<Record<BackendName, () => Promise<string>>> = {
  'node-gpu': () => loadNative('@tensorflow/tfjs-node-gpu'),
  node: () => loadNative('@tensorflow/tfjs-node'),
  webgpu: loadWebgpu,
  wasm: loadWasm,
  cpu: () => Promise.resolve('cpu'),
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
    const probe = await open(candidate)
    if (probe.loaded) return candidate
    reasons.push(`${candidate}: ${probe.reason}`)
  }
  throw new InvalidInputError(
    `the tensor backend does not open (${reasons.join(' ')}); choose "auto" or "cpu"`,
  )
}

/** Try every backend. The one that was set before is set again afterwards. */
export async function probeBackends(): Promise<readonly BackendProbe[]> {
  // Undefined before any was set, whatever tf's types say.
  const before = tf.getBackend() as string | undefined
  const probes: BackendProbe[] = []
  for (const name of backendNames) probes.push(await open(name))
  if (before !== undefined) await tf.setBackend(before)
  return probes
}

async function open(name: BackendName): Promise<BackendProbe> {
  // Without its advice to install something else, printed to everybody's terminal.
  tf.enableProdMode()
  try {
    const known = await loaders[name]()
    // With no adapter setBackend returns false and tfjs goes on with another backend: both are checked.
    const set = await withoutNewCrashHandlers(() => tf.setBackend(known))
    if (!set || tf.getBackend() !== known)
      return { name, loaded: false, reason: 'TensorFlow.js has it but it did not start on this machine.' }
    if (name === 'wasm') registerWasmKernels()
    return { name, loaded: true, reason: 'It is installed and starts.' }
  } catch (thrown) {
    return { name, loaded: false, reason: reasonOf(thrown) }
  }
}

const crashEvents = ['uncaughtException', 'unhandledRejection'] as const

/** Emscripten's start-up adds handlers to the process that throw again whatever the program would have handled. */
async function withoutNewCrashHandlers<T>(start: () => Promise<T>): Promise<T> {
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
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return 'It is not installed.'
  const [line = ''] = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')
  return `It does not load: ${line}.`
}

/** An import that TypeScript need not resolve: these packages are optional and often absent. */
const importOptional = (specifier: string): Promise<unknown> => import(specifier)

async function loadNative(specifier: string): Promise<string> {
  // tfjs-node 4.22 calls util.isNullOrUndefined, which Node 23 removed (tfjs#8425).
  const older = util as unknown as { isNullOrUndefined?: (value: unknown) => boolean }
  older.isNullOrUndefined ??= (value) => value === null || value === undefined
  await importOptional(specifier)
  return 'tensorflow'
}

/** Dawn's bindings for Node, and the backend on them. A browser's WebGPU needs neither. */
async function loadWebgpu(): Promise<string> {
  const dawn = (await importOptional('webgpu')) as {
    create: (options: readonly string[]) => unknown
    globals: object
  }
  if (!('gpu' in navigator)) {
    Object.assign(globalThis, dawn.globals)
    Object.defineProperty(navigator, 'gpu', { value: dawn.create([]), configurable: true })
  }
  await importOptional('@tensorflow/tfjs-backend-webgpu')
  return 'webgpu'
}

function loadWasm(): Promise<string> {
  // Its threads start from a blob URL, which plain Node does not load as a worker.
  tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false)
  setWasmPaths(fileURLToPath(new URL('./', import.meta.resolve('@tensorflow/tfjs-backend-wasm'))))
  return Promise.resolve('wasm')
}
