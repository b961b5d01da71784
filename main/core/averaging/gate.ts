/** Where training waits for a round: no longer than rounds usually keep it. */
import type { Millis } from '../../../shared/units.ts'
import type { Clock } from '../ports.ts'
import { Arrivals } from './arrivals.ts'

/** What training waits for. */
export type Awaited = 'ready' | 'round'

interface Closed {
  readonly opened: PromiseWithResolvers<void>
  readonly timer: AbortController
}

export class Gate {
  readonly #clock: Clock
  readonly #arrivals: Record<Awaited, Arrivals> = { ready: new Arrivals(), round: new Arrivals() }
  #closed: Closed | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** So long it took, until everybody was ready after we could train no further, or until a round was over. */
  see(what: Awaited, sinceMs: Millis): void {
    this.#arrivals[what].see(this.#clock.now() - sinceMs)
  }

  /**
   * Resolves when the gate opens: a round is over, or it is late and training goes on without.
   *
   * @param sinceMs - when what is waited for began
   * @param mayGoOn - asked when it is late; false: wait as long again
   */
  wait(what: Awaited, sinceMs: Millis, mayGoOn: () => boolean): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = { opened: Promise.withResolvers(), timer: new AbortController() }
      this.#openWhenLate(what, sinceMs, { mayGoOn, signal: this.#closed.timer.signal })
    }
    return this.#closed.opened.promise
  }

  #openWhenLate(what: Awaited, sinceMs: Millis, late: { mayGoOn: () => boolean; signal: AbortSignal }): void {
    const lateAfterMs = this.#arrivals[what].lateAfterMs
    if (lateAfterMs === undefined) return
    const isLate = () => {
      if (late.mayGoOn()) this.open()
      else this.#openWhenLate(what, this.#clock.now(), late)
    }
    const leftMs = Math.max(0, sinceMs + lateAfterMs - this.#clock.now())
    this.#clock.sleep(leftMs, late.signal).then(isLate, () => undefined)
  }

  open(): void {
    this.#closed?.timer.abort()
    this.#closed?.opened.resolve()
    this.#closed = undefined
  }
}
