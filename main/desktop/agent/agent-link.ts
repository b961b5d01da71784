/** The desktop's one way to the agent: commands go to whichever runs now, its newest snapshot is kept. */
import { AgentNotRunningError } from '../../../shared/errors.ts'
import type { CommandInput, CommandName, CommandOutput, Snapshot } from '../../../shared/messages/control.ts'
import { createSignal, type Signal } from '../signal.ts'
import type { LiveAgent } from './launch.ts'
import { type AgentStatus, createSupervisor, type Supervisor, type SupervisorPorts } from './supervisor.ts'

export interface AgentLink {
  /** @throws AgentNotRunningError while none runs; otherwise what the agent answers */
  command<N extends CommandName>(name: N, input: CommandInput<N>): Promise<CommandOutput<N>>
  /** The person is about to host or join a job. */
  isChoosing(): boolean
  readonly status: Signal<AgentStatus>
  /** Undefined while no agent runs. */
  readonly snapshot: Signal<Snapshot | undefined>
  readonly start: () => void
  readonly stop: () => Promise<void>
}

/** Commands by which the person wants a job other than the one this PC may come back to. */
const takesUp: readonly CommandName[] = ['host', 'join']

export function createAgentLink(ports: Omit<SupervisorPorts, 'onChange'>): AgentLink {
  const snapshot = createSignal<Snapshot | undefined>(undefined)
  let choosing = 0
  const supervisor: Supervisor = createSupervisor({
    ...ports,
    onChange(next) {
      status.set(next)
      if (next.name === 'running') void follow(next.agent)
      else snapshot.set(undefined)
    },
  })
  const status = createSignal<AgentStatus>(supervisor.status())

  async function follow(agent: LiveAgent): Promise<void> {
    try {
      for await (const next of agent.client.watch()) snapshot.set(next)
    } catch {
      // The supervisor hears of its end, too, and knows why.
    }
  }

  return {
    async command(name, input) {
      const now = status.get()
      if (now.name !== 'running')
        throw new AgentNotRunningError('the background agent is not running; Rookery starts it again')
      const chooses = takesUp.includes(name) ? 1 : 0
      choosing += chooses
      try {
        return await now.agent.client.command(name, input)
      } finally {
        choosing -= chooses
      }
    },
    isChoosing: () => choosing > 0,
    status,
    snapshot,
    start: supervisor.start,
    stop: supervisor.stop,
  }
}
