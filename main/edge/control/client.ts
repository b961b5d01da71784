/** A face's end of the control socket: typed commands, and the newest snapshot whenever it is asked for. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { resolve } from 'node:path'
import { AgentNotRunningError, BadMessageError, PoolError } from '../../../shared/errors.ts'
import type { ErrorKind, ErrorReport } from '../../../shared/errors.ts'
import { agentLine, commands } from '../../../shared/messages/control.ts'
import type {
  AgentLine,
  CommandInput,
  CommandName,
  CommandOutput,
  FaceLine,
  Snapshot,
} from '../../../shared/messages/control.ts'
import { describeIssue } from '../../../shared/settings.ts'
import { second } from '../../../shared/units.ts'
import type { Millis } from '../../../shared/units.ts'
import { readCredentials } from './credentials.ts'
import { createLineCutter, maxAgentLineBytes } from './lines.ts'
import { createLatest } from './latest.ts'
import type { Latest } from './latest.ts'

/** An error that happened in the agent, rebuilt from its report: its kind and code are the original's. */
export class RemoteError extends PoolError {
  readonly kind: ErrorKind
  readonly code: string
  constructor(report: ErrorReport) {
    super(report.message)
    this.kind = report.kind
    this.code = report.code
  }
}

export interface AgentClient {
  /** @throws RemoteError with the agent's kind and code; AgentNotRunningError when the agent is gone */
  command<N extends CommandName>(name: N, input: CommandInput<N>): Promise<CommandOutput<N>>
  /**
   * Snapshots from now on, the present one first. A slow reader skips to the newest; nothing queues up.
   * Ends after `close`. @throws AgentNotRunningError when the agent is gone
   */
  watch(): AsyncIterable<Snapshot>
  /** Resolves when the connection is over, for whatever reason. */
  readonly closed: Promise<void>
  close(): void
}

interface Pending {
  readonly name: CommandName
  readonly resolve: (output: unknown) => void
  readonly reject: (error: Error) => void
}

interface Connection {
  readonly socket: Socket
  readonly pending: Map<number, Pending>
  readonly snapshots: Latest<Snapshot>
  readonly welcome: PromiseWithResolvers<undefined>
  readonly gone: PromiseWithResolvers<undefined>
  /** Why it ended; undefined while it lives, and when we closed it ourselves. */
  fault: PoolError | undefined
}

const connectDeadlineMs: Millis = 10 * second

/**
 * Connect to the agent that runs on this home folder.
 * @throws AgentNotRunningError when none answers; RemoteError `wrong-token` when it is not ours
 */
export async function connectAgent(home: string): Promise<AgentClient> {
  const folder = resolve(home)
  const { socket: path, token } = await readCredentials(folder)
  const socket = createConnection(path)
  const absent = new AgentNotRunningError(`no agent runs on ${folder}; \`rookery agent\` starts one`)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectDeadlineMs) })
  } catch {
    socket.destroy()
    throw absent
  }
  const connection = openConnection(socket)
  send(socket, { type: 'hello', token })
  const late = setTimeout(() => socket.destroy(), connectDeadlineMs)
  try {
    await connection.welcome.promise
  } finally {
    clearTimeout(late)
  }
  return clientOf(connection)
}

function openConnection(socket: Socket): Connection {
  const connection: Connection = {
    socket,
    pending: new Map(),
    snapshots: createLatest<Snapshot>(),
    welcome: Promise.withResolvers(),
    gone: Promise.withResolvers(),
    fault: undefined,
  }
  // Whoever awaits it sees the rejection; nobody has to.
  connection.welcome.promise.catch(() => undefined)
  const cutter = createLineCutter(maxAgentLineBytes)
  socket.on('data', (chunk) => {
    try {
      for (const line of cutter.push(chunk)) take(connection, parseLine(line))
    } catch (thrown) {
      connection.fault ??= thrown instanceof PoolError ? thrown : new BadMessageError(String(thrown))
      socket.destroy()
    }
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => {
    finish(connection)
  })
  return connection
}

function clientOf(connection: Connection): AgentClient {
  const { socket, pending, snapshots, gone } = connection
  let nextId = 1
  let watching = false
  let closedByUs = false
  return {
    command(name, input) {
      if (socket.destroyed) return Promise.reject(connection.fault ?? goneError())
      const id = nextId++
      return new Promise((resolveCommand, reject) => {
        pending.set(id, { name, resolve: resolveCommand as (output: unknown) => void, reject })
        send(socket, { type: 'command', id, name, input })
      })
    },
    async *watch() {
      if (!watching) send(socket, { type: 'watch' })
      watching = true
      yield* snapshots.values()
      if (!closedByUs) throw connection.fault ?? goneError()
    },
    closed: gone.promise,
    close() {
      closedByUs = true
      socket.destroySoon()
    },
  }
}

const goneError = (): PoolError => new AgentNotRunningError('the agent has ended or closed the connection')

function send(socket: Socket, line: FaceLine): void {
  if (socket.writable) socket.write(`${JSON.stringify(line)}\n`)
}

/** @throws BadMessageError when it is not a line of an agent of this version */
function parseLine(line: string): AgentLine {
  let raw: unknown
  try {
    raw = JSON.parse(line)
  } catch {
    throw new BadMessageError('the agent sent something that is not JSON')
  }
  const parsed = agentLine.safeParse(raw)
  if (parsed.success) return parsed.data
  throw new BadMessageError(`the agent is of another version: ${describeIssue(parsed.error)}`)
}

function take(connection: Connection, line: AgentLine): void {
  switch (line.type) {
    case 'welcome':
      connection.welcome.resolve(undefined)
      return
    case 'snapshot':
      connection.snapshots.set(line.snapshot)
      return
    case 'done':
      settle(connection, line)
      return
    case 'failed': {
      const error = new RemoteError(line.error)
      // Number 0 is no command of ours: it is about the connection.
      if (line.id === 0) throw error
      connection.pending.get(line.id)?.reject(error)
      connection.pending.delete(line.id)
    }
  }
}

function settle(connection: Connection, line: Extract<AgentLine, { type: 'done' }>): void {
  const command = connection.pending.get(line.id)
  if (command === undefined) return
  connection.pending.delete(line.id)
  const output = commands[command.name].out.safeParse(line.output)
  if (output.success) command.resolve(output.data)
  else command.reject(new BadMessageError(`${command.name}: ${describeIssue(output.error)}`))
}

function finish(connection: Connection): void {
  const error = connection.fault ?? goneError()
  connection.welcome.reject(error)
  for (const command of connection.pending.values()) command.reject(error)
  connection.pending.clear()
  connection.snapshots.end()
  connection.gone.resolve(undefined)
}
