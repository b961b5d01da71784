/**
 * A StageEngine in a worker thread: what the two sides say, and both ends of it.
 *
 * Neither end polls: each waits for the other's messages. Calls run in the order made because the port says so of
 * every engine. Elements cross as transferred ArrayBuffers: results without a copy, since they are the caller's
 * and nobody else's; arguments as one copy, since the caller may go on using them (and a view must not drag its
 * whole buffer along).
 */
import type { MessagePort, Worker } from 'node:worker_threads'
import {
  AbortedError,
  BadMessageError,
  DeviceLostError,
  DeviceMemoryError,
  type ErrorKind,
  type ErrorReport,
  InvalidInputError,
  InvariantError,
  PoolError,
  reportOf,
} from '../../../shared/errors.ts'
import type { StageEngine } from '../../core/ports.ts'

/** A call of the port. */
type EngineMethod = Exclude<keyof StageEngine, 'backend'>

/** To the thread. */
interface Call {
  readonly id: number
  readonly method: EngineMethod
  readonly inputs: readonly unknown[]
}

/** From the thread: once when it is up or cannot be, then one answer a call; at last perhaps that its device is gone. */
type Answer =
  | { readonly type: 'ready'; readonly backend: string }
  | { readonly type: 'not-ready'; readonly error: ErrorReport }
  | { readonly type: 'done'; readonly id: number; readonly output: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: ErrorReport }
  | { readonly type: 'lost'; readonly error: ErrorReport }

/** An engine whose device may go away: `lost` resolves when it has, and every call fails with that reason. */
export type ServedEngine = StageEngine & { readonly lost?: Promise<PoolError> }

/** An engine in a thread of its own. */
export type EngineThread = StageEngine & {
  /**
   * Resolves once the engine can compute no more, idle or not: its device is gone (DeviceLostError) or its thread is
   * (EngineDiedError, DeviceMemoryError). Its stage is lost; another engine may take over. Never after `stop`.
   */
  readonly lost: Promise<PoolError>
  /** End the thread; calls that have no answer yet are rejected with AbortedError. */
  stop(): Promise<void>
}

/** The engine's thread is gone. Its stage and everything in flight on it are lost. */
export class EngineDiedError extends PoolError {
  readonly kind = 'bug'
  readonly code = 'engine-died'
}

/** An error of the engine's thread that no class here stands for. */
class EngineThreadError extends PoolError {
  readonly kind: ErrorKind
  readonly code: string
  constructor({ kind, code, message }: ErrorReport) {
    super(message)
    this.kind = kind
    this.code = code
  }
}

const classes = [
  AbortedError,
  BadMessageError,
  DeviceLostError,
  DeviceMemoryError,
  EngineDiedError,
  InvalidInputError,
  InvariantError,
]

/** An error of the class that made the report, where it is one that engines throw. */
function errorFrom(report: ErrorReport): PoolError {
  for (const Known of classes) {
    const error = new Known(report.message)
    if (error.code === report.code) return error
  }
  return new EngineThreadError(report)
}

/** Serve an engine to the thread at the other end. An engine that does not open is reported as the reason. */
export async function serveEngine(port: MessagePort, open: () => Promise<ServedEngine>): Promise<void> {
  const say = (answer: Answer, transfer: readonly ArrayBuffer[] = []) => {
    port.postMessage(answer, transfer)
  }
  try {
    const engine = await open()
    port.on('message', ({ id, method, inputs }: Call) => {
      const methods = engine as unknown as Record<
        EngineMethod,
        (...inputs: readonly unknown[]) => Promise<unknown>
      >
      methods[method](...inputs).then(
        (output) => {
          say({ type: 'done', id, output }, wholeBuffers(output))
        },
        (thrown: unknown) => {
          say({ type: 'failed', id, error: reportOf(thrown) })
        },
      )
    })
    say({ type: 'ready', backend: engine.backend })
    void engine.lost?.then((error) => { say({ type: 'lost', error: reportOf(error) }) }) // prettier-ignore
  } catch (thrown) {
    say({ type: 'not-ready', error: reportOf(thrown) })
  }
}

interface Waiting {
  readonly resolve: (output: unknown) => void
  readonly reject: (error: PoolError) => void
}

/** Give a call its answer. */
function settle(waiting: Map<number, Waiting>, answer: Extract<Answer, { id: number }>): void {
  const call = waiting.get(answer.id)
  waiting.delete(answer.id)
  if (answer.type === 'done') call?.resolve(answer.output)
  else call?.reject(errorFrom(answer.error))
}

/**
 * The engine that a worker serves.
 *
 * @throws the reason when it does not open; EngineDiedError when the thread ends first
 */
export async function connectEngine(worker: Worker): Promise<EngineThread> {
  const waiting = new Map<number, Waiting>()
  const greeting = Promise.withResolvers<string>()
  const lost = Promise.withResolvers<PoolError>()
  let gone: PoolError | undefined
  let calls = 0
  const end = (reason: PoolError) => {
    gone ??= reason
    if (!(gone instanceof AbortedError)) lost.resolve(gone)
    greeting.reject(gone)
    for (const { reject } of waiting.values()) reject(gone)
    waiting.clear()
  }
  worker.on('message', (answer: Answer) => {
    if (answer.type === 'ready') greeting.resolve(answer.backend)
    else if (answer.type === 'not-ready') greeting.reject(errorFrom(answer.error))
    else if (answer.type === 'lost') end(errorFrom(answer.error))
    else settle(waiting, answer)
  })
  worker.on('messageerror', (thrown) => { end(deathOf(thrown)) }) // prettier-ignore
  worker.on('error', (thrown) => { end(deathOf(thrown)) }) // prettier-ignore
  worker.on('exit', (code) => { end(new EngineDiedError(`the engine's thread ended with code ${code}`)) }) // prettier-ignore

  const call = <M extends EngineMethod>(method: M) =>
    ((...given: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) {
          reject(gone)
          return
        }
        const id = calls++
        const inputs = copied(given) as readonly unknown[]
        worker.postMessage({ id, method, inputs } satisfies Call, wholeBuffers(inputs))
        waiting.set(id, { resolve, reject })
      })) as StageEngine[M]
  const stop = async () => {
    end(new AbortedError('the engine was stopped'))
    await worker.terminate()
  }
  try {
    const backend = await greeting.promise
    return { backend, ...callsOf(call), lost: lost.promise, stop }
  } catch (thrown) {
    await worker.terminate()
    throw thrown
  }
}

/** One function a call of the port; forgetting one does not compile. */
function callsOf(call: <M extends EngineMethod>(method: M) => StageEngine[M]): Omit<StageEngine, 'backend'> {
  return {
    load: call('load'),
    forward: call('forward'),
    forwardLoss: call('forwardLoss'),
    backward: call('backward'),
    discard: call('discard'),
    update: call('update'),
    infer: call('infer'),
    judge: call('judge'),
    readState: call('readState'),
    writeState: call('writeState'),
    addToState: call('addToState'),
    readOptimizer: call('readOptimizer'),
    writeOptimizer: call('writeOptimizer'),
    memory: call('memory'),
    unload: call('unload'),
  }
}

function deathOf(thrown: unknown): PoolError {
  const report = reportOf(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new DeviceMemoryError(`the engine's thread ran out of memory: ${report.message}`)
  return new EngineDiedError(`the engine's thread failed: ${report.message}`)
}

type Elements = Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

/** The same value with its own copy of all elements. */
function copied(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as Elements).slice()
  if (Array.isArray(value)) return value.map(copied)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copied(part)]))
}

/** The buffers of all element arrays in a value that are the whole of their buffer: what can be transferred. */
function wholeBuffers(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteLength } = value
    if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) found.add(buffer)
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) wholeBuffers(part, found)
  }
  return [...found]
}
