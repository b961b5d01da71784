/** A control server with a state that a test turns by hand. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { AgentLine, Snapshot } from '../../../shared/messages/control.ts'
import type { CommandHandlers } from '../../../main/edge/control/face-lines.ts'
import type { PaceClock } from '../../../main/edge/control/pace.ts'
import { createControlServer } from '../../../main/edge/control/server.ts'
import type { ControlServer } from '../../../main/edge/control/server.ts'
import { nothingLent, refusals } from './example-state.ts'

const exampleSnapshot: Snapshot = {
  version: '0.1.0',
  self: 'peer-a',
  displayName: 'laptop',
  home: '/home/a',
  addresses: [],
  backend: 'cpu',
  ...nothingLent,
  job: null,
}

export interface ExampleAgent {
  readonly home: string
  readonly server: ControlServer
  /** Change the state and say so. */
  show(change: Partial<Snapshot>): void
}

export async function startExampleAgent(options: {
  readonly home: string
  readonly handlers?: Partial<CommandHandlers>
  readonly clock?: PaceClock
}): Promise<ExampleAgent> {
  let state = exampleSnapshot
  const listeners = new Set<() => void>()
  const server = await createControlServer({
    home: options.home,
    handlers: {
      ...refusals,
      status: () => Promise.resolve(state),
      shutdown: () => Promise.resolve(null),
      ...options.handlers,
    },
    snapshot: () => state,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  return {
    home: options.home,
    server,
    show(change) {
      state = { ...state, ...change }
      for (const listener of listeners) listener()
    },
  }
}

export async function temporaryHome(): Promise<{ home: string; remove: () => Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), 'rookery-test-'))
  return { home, remove: () => rm(home, { recursive: true, force: true }) }
}

/** Time that stands still until the test moves it. */
export function createManualClock(): PaceClock & { advance(ms: number): Promise<void> } {
  let nowMs = 0
  let sleepers: { readonly until: number; readonly wake: () => void }[] = []
  return {
    now: () => nowMs,
    sleep(duration) {
      return new Promise((resolve) => sleepers.push({ until: nowMs + duration, wake: resolve }))
    },
    async advance(ms) {
      nowMs += ms
      const due = sleepers.filter(({ until }) => until <= nowMs)
      sleepers = sleepers.filter(({ until }) => until > nowMs)
      for (const { wake } of due) wake()
      await Promise.resolve()
    },
  }
}

/** A connection without our client, to say what no face of ours would. */
export interface RawFace {
  write(text: string): void
  /** The next line, or undefined when the agent has closed. */
  next(): Promise<AgentLine | undefined>
  close(): void
}

export function openRawFace(path: string): RawFace {
  const socket = createConnection(path)
  socket.on('error', () => socket.destroy())
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return {
    write(text) {
      socket.write(text)
    },
    async next() {
      const line = await lines.next()
      return line.done === true ? undefined : (JSON.parse(line.value) as AgentLine)
    },
    close() {
      socket.destroy()
    },
  }
}
