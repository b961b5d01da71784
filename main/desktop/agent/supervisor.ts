/** Keeps an agent running: starts it, starts it again with growing pauses, and says clearly when it gives up. */
import { PoolError, reportOf } from '../../../shared/errors.ts'
import { minute, type Millis, second } from '../../../shared/units.ts'
import type { LiveAgent } from './launch.ts'

export type AgentStatus =
  | { readonly name: 'starting'; readonly tries: number }
  | { readonly name: 'running'; readonly tries: number; readonly agent: LiveAgent }
  | {
      readonly name: 'stopped'
      readonly tries: number
      readonly cause: string
      /** Null: we gave up, or were told to stop. */
      readonly nextTryAtMs: Millis | null
    }

export interface SupervisorPorts {
  launch(): Promise<LiveAgent>
  now(): Millis
  /** Call later, unless the returned function was called. */
  later(delayMs: Millis, deed: () => void): () => void
  /** The status changed. */
  onChange(status: AgentStatus): void
}

export interface Supervisor {
  status(): AgentStatus
  /** Start now, with all tries: the first time, or because the person asks. */
  readonly start: () => void
  /** Resolves when the agent has ended in order; it is not started again. */
  readonly stop: () => Promise<void>
}

/** Before the first, second, … restart. */
const pausesMs: readonly Millis[] = [1, 2, 4, 8, 16].map((seconds) => seconds * second)
export const mostTries = pausesMs.length
/** An agent that ran so long is well; its next end is a new story. */
const wellAfterMs = minute

export function createSupervisor(ports: SupervisorPorts): Supervisor {
  let status: AgentStatus = { name: 'stopped', tries: 0, cause: '', nextTryAtMs: null }
  let ending = false
  let inFlight: Promise<void> = Promise.resolve()
  let cancelTry = (): void => undefined

  const become = (next: AgentStatus): void => {
    status = next
    ports.onChange(next)
  }

  function fall(cause: string, tries: number): void {
    const pauseMs = pausesMs[tries]
    if (ending || pauseMs === undefined) {
      become({ name: 'stopped', tries, cause, nextTryAtMs: null })
      return
    }
    become({ name: 'stopped', tries: tries + 1, cause, nextTryAtMs: ports.now() + pauseMs })
    cancelTry = ports.later(pauseMs, () => {
      run(tries + 1)
    })
  }

  async function launch(tries: number): Promise<void> {
    become({ name: 'starting', tries })
    try {
      const agent = await ports.launch()
      const since = ports.now()
      become({ name: 'running', tries, agent })
      void agent.lost.then((cause) => {
        fall(cause, ports.now() - since >= wellAfterMs ? 0 : tries)
      })
    } catch (thrown) {
      // A setting at fault does not heal by itself.
      const hopeless = thrown instanceof PoolError && thrown.kind === 'bad-input'
      fall(reportOf(thrown).message, hopeless ? mostTries : tries)
    }
  }

  function run(tries: number): void {
    if (!ending) inFlight = launch(tries)
  }

  return {
    status: () => status,
    start() {
      if (status.name !== 'stopped') return
      cancelTry()
      run(0)
    },
    async stop() {
      ending = true
      cancelTry()
      await inFlight
      if (status.name === 'running') await status.agent.end()
    },
  }
}
