/** This PC's own pause: asked for now or after the averaging round, told to the host, taken back. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { EndOfRound } from './end-of-round.ts'
import type { MemberEvent, MemberState } from './member-state.ts'
import type { StageRunHooks } from './stage-run.ts'
import type { HeaderToHost } from './member-ports.ts'

export interface OwnPausePorts {
  readonly self: PeerId
  readonly state: () => MemberState
  readonly become: (event: MemberEvent) => void
  readonly toHost: (header: HeaderToHost) => void
  readonly plan: () => Plan | undefined
  /** Updates of the stage. */
  readonly updates: () => number
  /** H. */
  readonly averageEvery: () => number
  /** Whether this PC has a stage under the plan. */
  readonly holdsStage: () => boolean
}

export class OwnPause {
  readonly #ports: OwnPausePorts
  readonly #round: EndOfRound
  /** Outlives every plan: one that is made meanwhile goes without this PC. */
  #asked = false
  /** What the stage tells us. */
  readonly hooks: Pick<StageRunHooks, 'onUpdate' | 'onRound'> = {
    onUpdate: () => {
      const { updates, averageEvery } = this.#ports
      if (this.#round.updated(updates(), averageEvery())) this.pause()
    },
    onRound: (ring) => {
      if (this.#round.ringOver(ring)) this.pause()
    },
  }

  constructor(ports: OwnPausePorts) {
    this.#ports = ports
    this.#round = new EndOfRound(ports.self)
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
  }

  /**
   * Train on until the averaging round is over, then pause as ever. May be said again.
   * @returns false where no round is under way here: this PC pauses at once, if it can
   */
  pauseAfterRound(): boolean {
    const { state, become, plan, updates } = this.#ports
    const inForce = plan()
    if (state().name === 'ending-round') return true
    if (state().name !== 'training' || inForce === undefined) {
      this.pause()
      return false
    }
    this.#round.await(inForce, updates())
    become({ name: 'pause-after-round-asked' })
    return true
  }

  /** Take our own pause back; another member's is not ours to end. */
  resume(): void {
    const asked = this.#asked
    this.#asked = false
    this.#round.forget()
    if (!asked && this.#ports.state().name !== 'ending-round') return
    this.#ports.become({ name: 'resume-asked', holding: this.#ports.holdsStage() })
    if (asked) this.#ports.toHost({ type: 'resume-request' })
  }

  /** The stage begins: a pause that was asked for while it got ready is in force at once. */
  started(): void {
    if (this.#asked) this.#ports.become({ name: 'pause-asked' })
  }

  /** Other clusters are active now. Where ours is not, the round has ended for us and our pause begins. */
  replan(plan: Plan): void {
    if (!this.#round.isAwaited) return
    if (this.#ports.state().name === 'ending-round') this.#round.await(plan, this.#ports.updates())
    else this.pause()
  }
}
