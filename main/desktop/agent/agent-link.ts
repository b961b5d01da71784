/** The desktop's one way to the agent: commands go to whichever runs now, its newest snapshot is kept. */
import { AgentNotRunningError, reportOf } from '../../../shared/errors.ts'
import type { CommandInput, CommandName, CommandOutput, Snapshot } from '../../../shared/messages/control.ts'
import { createSignal, type Signal } from '../signal.ts'
import type { LiveAgent } from './launch.ts'
import { type AgentStatus, createSupervisor, type Supervisor, type SupervisorPorts } from './supervisor.ts'

export interface AgentLink {
  /** @throws AgentNotRunningError while none runs; otherwise what the agent answers */
  command<N extends CommandName>(name: N, input: CommandInput<N>): Promise<CommandOutput<N>>
  readonly status: Signal<AgentStatus>
  /** Undefined while no agent runs. */
  readonly snapshot: Signal<Snapshot | undefined>
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export interface LinkPorts extends Omit<SupervisorPorts, 'onChange'> {
  /** After a restart of the agent its job would not have it back; in one sentence. */
  readonly onNotRejoined: (reason: string) => void
}

export function createAgentLink(ports: LinkPorts): AgentLink {
  const snapshot = createSignal<Snapshot | undefined>(undefined)
  const rejoin = createRejoin(ports.onNotRejoined)
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
      await rejoin.after(agent)
      for await (const next of agent.client.watch()) {
        if (next.job?.phase === 'ended') rejoin.forget()
        snapshot.set(next)
      }
    } catch {
      // The supervisor hears of its end, too, and knows why.
    }
  }

  return {
    async command(name, input) {
      const now = status.get()
      if (now.name !== 'running')
        throw new AgentNotRunningError('the background agent is not running; Rookery starts it again')
      const output = await now.agent.client.command(name, input)
      rejoin.note(name, input)
      return output
    },
    status,
    snapshot,
    start: supervisor.start,
    stop: supervisor.stop,
  }
}

/** A job that the person joined stays joined when the agent had to be started again. */
function createRejoin(onRefused: (reason: string) => void) {
  let invite: string | undefined
  return {
    note(name: CommandName, input: unknown): void {
      if (name === 'leave') invite = undefined
      if (name === 'join') invite = (input as CommandInput<'join'>).invite
    },
    forget(): void {
      invite = undefined
    },
    async after({ client }: LiveAgent): Promise<void> {
      if (invite === undefined) return
      const { job } = await client.command('status', {})
      if (job !== null) return
      try {
        await client.command('join', { invite })
      } catch (thrown) {
        // Over, or going on without us.
        invite = undefined
        onRefused(reportOf(thrown).message)
      }
    },
  }
}
