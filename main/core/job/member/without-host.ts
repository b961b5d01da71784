/**
 * The host is gone, the training is not: clusters that are whole go on by the plan in force. What has to be decided
 * meanwhile a deputy decides: the first peer of the plan, outside the host's cluster, that is still there. It only takes
 * clusters out; new plans are the host's. Everyone tells the host what it holds as soon as that is back.
 */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Header } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { hour, type Millis, second } from '../../../../shared/units.ts'
import type { Clock } from '../../ports.ts'
import type { JobLog } from '../job-log.ts'
import { peersOf, planPeers, positionOf, withActive } from '../plan-in-force.ts'
import type { HeaderToHost } from './member-ports.ts'

/** A host's agent that was started again listens within seconds; whoever waits for it should not add to that. */
const tellEveryMs = second
/** So long a PC that cannot train keeps its stage for a host that is gone; then its agent looks for the host by itself. */
const idleWithinMs = 30 * second
/** A host that is not back by then was ended for good, or its PC is off. */
const trainsWithinMs = 12 * hour

export type HeldStage = Pick<Header<'stage-report'>, 'layout' | 'stage' | 'pausing' | 'cursor'>

export interface WithoutHostPorts {
  readonly self: PeerId
  readonly host: PeerId
  readonly clock: Clock
  /** Fires when the member has ended. */
  readonly signal: AbortSignal
  readonly log: JobLog
  readonly plan: () => Plan | undefined
  readonly held: () => HeldStage
  /** Whether this PC's cluster is whole and trains. */
  readonly trains: () => boolean
  readonly toHost: (header: HeaderToHost) => Promise<void>
  readonly tell: (peer: PeerId, header: HeaderToHost) => void
  readonly replan: (plan: Plan, reason: string) => void
  /** It may have missed what we said last. */
  readonly onBack: () => void
  /** Keep the stage on disk and end. */
  readonly giveUp: (reason: string) => Promise<void>
  readonly background: (work: Promise<unknown>) => void
}

/** Who decides while the host is gone, in the order of the plan: nobody of the host's own cluster, which stands still. */
export function deputiesOf(plan: Plan, host: PeerId): readonly PeerId[] {
  const own = positionOf(plan, host)?.cluster
  return plan.layout.clusters.flatMap((_, cluster) => (cluster === own ? [] : peersOf(plan, cluster)))
}

/** The plan without the clusters that miss somebody; undefined where all that train are whole. */
export function planWithout(plan: Plan, missing: ReadonlySet<PeerId>): Plan | undefined {
  const active = plan.active.filter((cluster) => !peersOf(plan, cluster).some((peer) => missing.has(peer)))
  return active.length === plan.active.length ? undefined : withActive(plan, active)
}

export class WithoutHost {
  readonly #ports: WithoutHostPorts
  readonly #missing = new Set<PeerId>()
  #reason = ''
  #gone: AbortController | undefined

  constructor(ports: WithoutHostPorts) {
    this.#ports = ports
  }

  get isGone(): boolean {
    return this.#gone !== undefined
  }

  /** Nobody can reach a peer that we cannot, as far as we know. */
  lost(peer: PeerId, reason: string): void {
    this.#missing.add(peer)
    if (peer === this.#ports.host && this.#gone === undefined) this.#begin(reason)
    this.#decide()
  }

  /** A message of this peer came in. */
  heard(peer: PeerId): void {
    this.#missing.delete(peer)
    if (peer !== this.#ports.host || this.#gone === undefined) return
    this.#gone.abort()
    this.#gone = undefined
    this.#ports.log.say('the host is back')
    this.#ports.onBack()
  }

  /** Whether a peer may change the plan: everyone who would come before it is gone, the host first of all. */
  isDeputy(peer: PeerId): boolean {
    const plan = this.#ports.plan()
    if (plan === undefined || this.#gone === undefined) return false
    return deputiesOf(plan, this.#ports.host).find((one) => !this.#missing.has(one)) === peer
  }

  #begin(reason: string): void {
    const { log, signal, background } = this.#ports
    this.#reason = `the host is gone (${reason})`
    this.#gone = new AbortController()
    log.say(`${this.#reason}; ${this.#ports.trains() ? 'the training goes on' : 'waiting for it'}`, 'wait')
    background(this.#tellUntil(AbortSignal.any([signal, this.#gone.signal])))
  }

  #decide(): void {
    const { self, host, plan, replan, tell } = this.#ports
    const inForce = plan()
    if (inForce === undefined || !this.isDeputy(self)) return
    const next = planWithout(inForce, this.#missing)
    if (next === undefined) return
    const reason = `${[...this.#missing].join(', ')} cannot be reached`.slice(0, 500)
    for (const peer of planPeers(next))
      if (peer !== self && peer !== host && !this.#missing.has(peer))
        tell(peer, { type: 'replan', proposal: next, reason })
    replan(next, reason)
  }

  /** Again and again until the host says something. */
  async #tellUntil(back: AbortSignal): Promise<void> {
    const { clock, held, toHost, trains, giveUp } = this.#ports
    let idleSinceMs: Millis | undefined
    const sinceMs = clock.now()
    while (!back.aborted) {
      await clock.sleep(tellEveryMs, back)
      idleSinceMs = trains() ? undefined : (idleSinceMs ?? clock.now())
      if (
        clock.now() - (idleSinceMs ?? Infinity) >= idleWithinMs ||
        clock.now() - sinceMs >= trainsWithinMs
      ) {
        await giveUp(this.#reason)
        return
      }
      const reached = await toHost({ type: 'stage-report', ...held() }).then(
        () => true,
        () => false,
      )
      // It is there, and its answer on the way.
      if (reached) idleSinceMs = undefined
    }
  }
}
