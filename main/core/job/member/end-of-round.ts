/** Says when the averaging round of a stage is over: what a pause "after this round" waits for. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { ringsInForce } from '../plan-in-force.ts'

interface Awaited {
  /** Rings of the stage whose round is not over yet, by their place in the plan. None: nobody averages with us. */
  readonly rings: Set<number>
  /** Of the stage, when the waiting began. */
  readonly updates: number
}

/**
 * A round of a stage is over when every ring of it is: averaged or given up. A stage that averages with nobody, as in
 * the only cluster, has no rounds; what counts there is every H-th update, where a round would have been.
 */
export class EndOfRound {
  readonly #self: PeerId
  #awaited: Awaited | undefined

  constructor(self: PeerId) {
    this.#self = self
  }

  /** From now on: the next end of a round by this plan. Again with each new plan, which begins its rounds anew. */
  await(plan: Plan, updates: number): void {
    const rings = ringsInForce(plan).flatMap(({ members }, index) =>
      members.length > 1 && members.includes(this.#self) ? [index] : [],
    )
    this.#awaited = { rings: new Set(rings), updates }
  }

  forget(): void {
    this.#awaited = undefined
  }

  get isAwaited(): boolean {
    return this.#awaited !== undefined
  }

  /** A ring's round is over. @returns whether that was the last one waited for */
  ringOver(ring: number): boolean {
    const rings = this.#awaited?.rings
    return rings?.delete(ring) === true && rings.size === 0
  }

  /** The stage made an update. @returns whether it ends a round, where nobody averages with us */
  updated(updates: number, averageEvery: number): boolean {
    const awaited = this.#awaited
    if (awaited === undefined || awaited.rings.size > 0) return false
    return Math.floor(updates / averageEvery) > Math.floor(awaited.updates / averageEvery)
  }
}
