/** What a member's part of a job is made of. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Header, WireHeader } from '../../../../shared/messages/wire.ts'
import type { Bytes, Millis } from '../../../../shared/units.ts'
import type { Clock, Links, Log, ShardStore, StageEngine, Vault } from '../../ports.ts'

export interface MemberPorts {
  readonly links: Links
  readonly clock: Clock
  readonly log: Log
  readonly engine: StageEngine
  readonly store: ShardStore
  readonly vault: Vault
  /** Of the time that engine calls took, what was rest by the owner's wish. */
  readonly restedMs?: () => Millis
  /** Of all threads of this program, the processor's time so far; absent: nobody can tell. */
  readonly processorMs?: () => Millis
}

export interface Membership {
  readonly job: string
  readonly name: string
  readonly host: PeerId
  readonly displayName: string
  /** What this PC lends. */
  readonly memoryBytes: Bytes
}

export type Assignment = Header<'assignment'>

type WithoutEnvelope<H> = H extends WireHeader ? Omit<H, 'job' | 'plan'> : never
/** What a member says; the job and the plan are added on the way. */
export type HeaderToHost = WithoutEnvelope<WireHeader>
