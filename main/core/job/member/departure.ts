/** How a member goes: in order, at once, or because something broke. */
import type { JobResult } from '../../../../shared/messages/control.ts'
import { type Millis, minute, second } from '../../../../shared/units.ts'
import type { Clock } from '../../ports.ts'
import type { JobLog } from '../job-log.ts'
import type { MemberEvent, MemberState } from './member-state.ts'
import type { HeaderToHost } from './member-ports.ts'

/** So long a stage waits to be taken over before its PC goes without. */
const handOverWithinMs = minute
/** A host that takes no goodbye for so long is not waited for. */
const goodbyeWithinMs = 2 * second

export type Outcome = Pick<JobResult, 'outcome' | 'reason'> & Partial<Pick<JobResult, 'code'>>

export interface DeparturePorts {
  readonly clock: Clock
  /** Fires when the member has ended. */
  readonly signal: AbortSignal
  readonly log: JobLog
  readonly state: () => MemberState
  readonly become: (event: MemberEvent) => void
  /** This PC keeps numbers of the model that others may take over. */
  readonly holding: () => boolean
  /** Nobody is there who could take over. */
  readonly hostIsGone: () => boolean
  readonly send: (header: HeaderToHost) => Promise<void>
  /** Our stage cannot go on where it stands. */
  readonly tellBroken: () => void
  readonly background: (work: Promise<unknown>) => void
  readonly end: (outcome: Outcome) => void
}

/**
 * A neighbour that only we cannot reach: so long the host has to notice by itself. It hears silence within five seconds,
 * too, and the cluster stands still for as long as we wait.
 */
const unreachableForMs = 6 * second
/** A host that misses the neighbour, too, knows by then. Else it hears that our stage cannot go on. */
const noticedWithinMs = 2 * second

export class Departure {
  readonly #ports: DeparturePorts

  constructor(ports: DeparturePorts) {
    this.#ports = ports
  }

  /** Let the host take over what this PC's stage knows, then go; said again, or after so long, go without. */
  leave(reason: string, withinMs: Millis = handOverWithinMs): void {
    const { state, become, background, hostIsGone, holding } = this.#ports
    const again = state().name === 'handing-over'
    become({ name: 'leave-asked', holding: holding() })
    if (again || hostIsGone() || state().name !== 'handing-over') this.go({ outcome: 'stopped', reason })
    else background(this.#handOver(reason, withinMs))
  }

  async #handOver(reason: string, withinMs: Millis): Promise<void> {
    const { clock, log, send, signal } = this.#ports
    log.say('this PC leaves: the host takes over what its layers have learned')
    // A host that hears nothing of it is gone, or the time runs out.
    await send({ type: 'leave-request' }).catch(() => undefined)
    await clock.sleep(withinMs, signal)
    this.go({ outcome: 'stopped', reason })
  }

  /** Unless the host has changed the plan soon. When the neighbour can be reached again, this PC comes back. */
  goWithoutNeighbour(reason: string, isStillNeeded: () => boolean): void {
    this.#ports.background(this.#withoutNeighbour(reason, isStillNeeded))
  }

  async #withoutNeighbour(reason: string, isStillNeeded: () => boolean): Promise<void> {
    const { clock, signal, tellBroken } = this.#ports
    await clock.sleep(noticedWithinMs, signal)
    if (isStillNeeded()) tellBroken()
    await clock.sleep(unreachableForMs - noticedWithinMs, signal)
    if (isStillNeeded()) this.go({ outcome: 'stopped', code: 'neighbour-lost', reason })
  }

  /** Tell the host and end. */
  go(outcome: Outcome): void {
    this.#ports.background(this.#goodbye(outcome))
  }

  async #goodbye(outcome: Outcome): Promise<void> {
    const { clock, end, send, signal } = this.#ports
    if (signal.aborted) return
    const told = send({ type: 'leaving', reason: outcome.reason.slice(0, 500) }).catch(() => undefined)
    await Promise.race([told, clock.sleep(goodbyeWithinMs, signal)])
    end(outcome)
  }
}
