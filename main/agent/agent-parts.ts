/** Everything a command of the agent may need, and the state that faces see. */
import { InvalidInputError } from '../../shared/errors.ts'
import type { Snapshot } from '../../shared/messages/control.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Participation } from '../core/job/participant.ts'
import type { Log } from '../core/ports.ts'
import type { DiskShardStore } from '../edge/data/shards/shard-store.ts'
import type { EngineThread } from '../edge/engine/protocol.ts'
import type { DiskVault } from '../edge/store/vault.ts'
import type { Swarm } from '../edge/swarm/swarm.ts'
import type { Changes } from './changes.ts'
import type { Comeback } from './comeback.ts'
import { displayNameOf } from './display-name.ts'
import type { Lending } from './limits/lending.ts'
import { version } from './version.ts'
import { onTheWall } from './wall-view.ts'

export type { EngineThread }

/** A job that this agent takes part in. */
export interface CurrentJob {
  readonly participation: Participation
  /** Stop whatever runs; give back engine and links. May be called again. */
  release(): Promise<void>
}

/** A job of our own. */
export interface HostedHere extends CurrentJob {
  /** The newest. */
  invite: string
  /** One more, with a secret of its own. @throws InvalidInviteError where nobody could reach us */
  newInvite(): string
}

export interface AgentParts {
  readonly home: string
  /** In force now. */
  settings: Settings
  readonly log: Log
  readonly swarm: Swarm
  readonly store: DiskShardStore
  readonly vault: DiskVault
  /** What the engine runs on; the setting before one was started. */
  backend: string
  readonly changes: Changes
  readonly lending: Lending
  /** Absent where the agent serves one command line only. */
  comeback: Comeback | undefined
  /** The newest job; an ended one stays to be looked at until the next begins. */
  current: CurrentJob | HostedHere | undefined
  /** A job is being launched or joined: a second one has to wait. */
  busy: boolean
  startEngine(): Promise<EngineThread>
  readonly shutdown: () => void
}

/** The job if it is our own. */
export function hostedOf(job: AgentParts['current']): HostedHere | undefined {
  return job !== undefined && 'newInvite' in job ? job : undefined
}

/** The job under way. @throws InvalidInputError when there is none */
export function currentOf({ current }: AgentParts): CurrentJob {
  if (current === undefined)
    throw new InvalidInputError('this agent takes part in no job; host or join one first')
  return current
}

export function snapshotOf(parts: AgentParts): Snapshot {
  const { home, settings, swarm, backend, current, lending, comeback } = parts
  const view = current?.participation.view()
  const isOpen = view !== undefined && !['finishing', 'ended'].includes(view.phase)
  const invite = isOpen ? (hostedOf(current)?.invite ?? null) : null
  return {
    version,
    self: swarm.self,
    displayName: displayNameOf(settings),
    home,
    addresses: [...swarm.addresses()],
    backend,
    ...lending.shown(),
    comesBackTo: comeback?.to ?? null,
    job: view === undefined ? null : { ...onTheWall(view), invite },
  }
}
