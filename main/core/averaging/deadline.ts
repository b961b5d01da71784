/** Once anybody calls for a round, it begins so long after at the latest, where the plan says so. */
import type { Millis } from '../../../shared/units.ts'
import type { Clock } from '../ports.ts'

export class Deadline {
  readonly #clock: Clock
  readonly #afterMs: Millis | undefined
  readonly #end = new AbortController()
  #setFor = 0
  #over = 0

  constructor(clock: Clock, afterMs: Millis | undefined) {
    this.#clock = clock
    this.#afterMs = afterMs
  }

  /** Once a round; again changes nothing. */
  set(round: number, onOver: () => void): void {
    if (this.#afterMs === undefined || this.#setFor === round) return
    this.#setFor = round
    const over = () => {
      this.#over = round
      onOver()
    }
    this.#clock.sleep(this.#afterMs, this.#end.signal).then(over, () => undefined)
  }

  isOver(round: number): boolean {
    return this.#over === round
  }

  end(): void {
    this.#end.abort()
  }
}
