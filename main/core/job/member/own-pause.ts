/** This PC's own pause: asked for now or after the averaging round, told to the host, taken back. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { type Millis, second } from '../../../../shared/units.ts'
import type { Clock } from '../../ports.ts'
import { EndOfRound } from './end-of-round.ts'
import type { MemberEvent, MemberState } from './member-state.ts'
import type { StageLife } from './stage-life.ts'
import type { StageRunHooks } from './stage-run.ts'
import type { HeaderToHost } from './member-ports.ts'

/**
 * What is in flight finishes within this, or waits: behind a slow stage, or a PC of the cluster that has fallen silent. Who
 * pauses a PC needs it, within two seconds.
 */
const drainsWithinMs: Millis = 1.5 * second

export interface OwnPausePorts {
  readonly self: PeerId
  readonly clock: Clock
  /** Fires when the member has ended. */
  readonly signal: AbortSignal
  readonly state: () => MemberState
  readonly become: (event: MemberEvent) => void
  readonly toHost: (header: HeaderToHost) => void
  readonly plan: () => Plan | undefined
  /** H. */
  readonly averageEvery: () => number
  /** What this PC has under the plan. */
  readonly stage: () => StageLife | undefined
  readonly background: (work: Promise<unknown>) => void
}

export class OwnPause {
  readonly #ports: OwnPausePorts
  readonly #round: EndOfRound
  /** Outlives every plan: one that is made meanwhile goes without this PC. */
  #asked = false
  /** How many were asked for: one that was taken back meanwhile makes nobody rest. */
  #pauses = 0
  /** What the stage tells us. */
  readonly hooks: Pick<StageRunHooks, 'onUpdate' | 'onRound'> = {
    onUpdate: () => {
      if (this.#round.updated(this.#updates, this.#ports.averageEvery())) this.pause()
    },
    onRound: (ring) => {
      if (this.#round.ringOver(ring)) this.pause()
    },
  }

  constructor(ports: OwnPausePorts) {
    this.#ports = ports
    this.#round = new EndOfRound(ports.self)
  }

  get #updates(): number {
    return this.#ports.stage()?.run?.stats.updates ?? 0
  }

  /** The stage has begun, and its cluster is one of those that train. */
  get #isActive(): boolean {
    const [stage, plan] = [this.#ports.stage(), this.#ports.plan()]
    return stage?.isBegun === true && plan !== undefined && stage.isActive(plan)
  }

  /** Whether a pause that we asked for is in force or on its way. */
  isAsked(): boolean {
    return this.#asked
  }

  /** May be said again: only the first time counts. */
  pause(): void {
    this.#round.forget()
    if (this.#asked) return
    this.#asked = true
    this.#ports.become({ name: 'pause-asked' })
    this.#ports.toHost({ type: 'pause-request' })
    this.#ports.background(this.#restSoon())
  }

  /** The cluster is not empty yet, or the host is gone who would hold it: this PC rests, and the cluster with it. */
  async #restSoon(): Promise<void> {
    const { clock, signal, state, stage, become } = this.#ports
    const pause = ++this.#pauses
    await clock.sleep(drainsWithinMs, signal)
    if (pause !== this.#pauses || !this.#asked || state().name !== 'draining' || !this.#isActive) return
    stage()?.run?.rest(true)
    become({ name: 'rested' })
    this.tellAgain()
  }

  /** A host that was gone, or has just taken the cluster up, does not know that this PC rests. */
  tellAgain(): void {
    const state = this.#ports.state()
    if (state.name === 'paused' && state.byUs && this.#isActive) this.#ports.toHost({ type: 'held' })
  }

  /**
   * Train on until the averaging round is over, then pause as ever. May be said again.
   * @returns false where no round is under way here: this PC pauses at once, if it can
   */
  pauseAfterRound(): boolean {
    const { state, become, plan } = this.#ports
    const inForce = plan()
    if (state().name === 'ending-round') return true
    if (state().name !== 'training' || inForce === undefined) {
      this.pause()
      return false
    }
    this.#round.await(inForce, this.#updates)
    become({ name: 'pause-after-round-asked' })
    return true
  }

  /** Take our own pause back; another member's is not ours to end. */
  resume(): void {
    const { become, stage, toHost } = this.#ports
    const asked = this.#asked
    this.#asked = false
    this.#round.forget()
    if (!asked && this.#ports.state().name !== 'ending-round') return
    become({ name: 'resume-asked', holding: stage() !== undefined })
    if (asked) toHost({ type: 'resume-request' })
    // Nobody took the cluster out meanwhile.
    if (this.#isActive) this.wake()
  }

  /** The cluster is active: go on, if only to hand over what the stage knows. */
  wake(): void {
    this.#ports.stage()?.run?.rest(false)
    this.#ports.become({ name: 'cluster-active' })
  }

  /** The stage begins: a pause that was asked for while it got ready is in force at once. */
  started(): void {
    if (!this.#asked) return
    this.#ports.become({ name: 'pause-asked' })
    this.#ports.background(this.#restSoon())
  }

  /** Other clusters are active now. Where ours is not, the round has ended for us and our pause begins. */
  replan(plan: Plan): void {
    this.tellAgain()
    if (!this.#round.isAwaited) return
    if (this.#ports.state().name === 'ending-round') this.#round.await(plan, this.#updates)
    else this.pause()
  }
}
