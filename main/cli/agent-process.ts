/** Start the agent's program as a child that never outlives this process. */
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import { InvalidInputError } from '../../shared/errors.ts'
import { minute, second } from '../../shared/units.ts'
import type { Bytes } from '../../shared/units.ts'
import { AgentEndedError, exitCodes } from './errors.ts'

/** The agent's own flags; absent ones are left to its settings file. */
export interface AgentOptions {
  readonly home: string
  readonly memoryBytes?: Bytes
  readonly displayName?: string
  readonly address?: string
  readonly port?: number
  readonly backend?: string
  /** Cores that compute; absent: as the settings say. */
  readonly threads?: number
  readonly localDiscovery?: boolean
  /** Come back to the job that the last agent on this home had joined. */
  readonly rejoin?: boolean
  /** A command that runs the agent's, for example in a network namespace. It must become the agent's process. */
  readonly within?: readonly string[]
}

export interface AgentProcess {
  readonly pid: number
  readonly socket: string
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** The last lines it wrote to stderr. */
  lastWords(): string
  /** Resolves when it has ended by itself, as it was asked to over its socket; killed at the deadline. */
  gone(): Promise<void>
  /** Close its stdin, which ends it without its socket; killed at the deadline. */
  stop(): Promise<void>
  /** End it now. */
  kill(): void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const readyDeadlineMs = 3 * minute
/** Longer than the agent gives itself for an orderly end. */
const stopDeadlineMs = 25 * second
const keptLines = 20

const readyLine = z.object({ event: z.literal('ready'), socket: z.string() })

/** Children that live. A process that exits for whatever reason takes them along; one that is killed closes their stdin. */
const living = new Set<Child>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** End every agent of this process, those that still start among them. */
export function stopLivingAgents(): void {
  for (const child of living) stopChild(child)
}

function stopChild(child: Child): void {
  child.stdin.end()
  killLater(child)
}

function killLater(child: Child): void {
  // The timer lives only as long as anything else does; leaving the process kills what is left.
  setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs).unref()
}

function agentArguments(options: AgentOptions): string[] {
  const flags: string[] = ['--home', options.home]
  const add = (flag: string, value: string | number | undefined): void => {
    if (value !== undefined) flags.push(flag, String(value))
  }
  add('--memory', options.memoryBytes)
  add('--display-name', options.displayName)
  add('--address', options.address)
  add('--port', options.port)
  add('--backend', options.backend)
  add('--threads', options.threads)
  if (options.localDiscovery === false) flags.push('--no-local-discovery')
  if (options.rejoin === true) flags.push('--rejoin')
  return [...flags, '--attached']
}

/**
 * @param entry - the agent's entry file
 * @param hear - called with each line of its stderr
 * @throws InvalidInputError with its own sentence when it exits with 2; AgentEndedError when it fails otherwise
 */
export async function startAgent(
  entry: string,
  options: AgentOptions,
  hear: (line: string) => void = () => undefined,
): Promise<AgentProcess> {
  // A process group of its own: Ctrl-C in the terminal reaches us alone, and we end it in order.
  const [program, ...before] = [...(options.within ?? []), process.execPath]
  const child = spawn(program, [...before, entry, ...agentArguments(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  living.add(child)
  // Its end may race with our writing.
  child.stdin.on('error', () => undefined)
  const words: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    words.push(line)
    if (words.length > keptLines) words.shift()
    hear(line)
  })
  const lastWords = (): string => words.join('\n')
  const ended = endOf(child)
  const socket = await readySocket(child, ended, lastWords)
  return {
    pid: child.pid ?? 0,
    socket,
    ended,
    lastWords,
    async gone() {
      killLater(child)
      await ended
    },
    async stop() {
      stopChild(child)
      await ended
    },
    kill() {
      child.kill('SIGKILL')
    },
  }
}

/** Resolves when the child is gone and all it wrote was read. */
async function endOf(child: Child): Promise<number | null> {
  try {
    await once(child, 'close')
  } catch {
    // It could not be started: `error` came instead of `close`.
  }
  living.delete(child)
  return child.exitCode
}

async function readySocket(
  child: Child,
  ended: Promise<number | null>,
  lastWords: () => string,
): Promise<string> {
  const ready = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const parsed = readyLine.safeParse(parseJson(line))
    if (parsed.success) ready.resolve(parsed.data.socket)
  })
  const late = setTimeout(() => child.kill('SIGKILL'), readyDeadlineMs)
  const failed = ended.then((code): never => {
    const last = lastWords().split('\n').at(-1) ?? ''
    if (code === exitCodes.badInput) throw new InvalidInputError(last)
    throw new AgentEndedError(`the agent did not start: ${last === '' ? 'it said nothing' : last}`)
  })
  failed.catch(() => undefined)
  try {
    return await Promise.race([ready.promise, failed])
  } finally {
    clearTimeout(late)
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
