/** Whether the pool trains: gaps between moments at which some peer had trained more samples than before. */
import { second, type Millis, type Seconds } from '../../../shared/units.ts'

/** A time in which nobody trained. */
export interface Stall {
  readonly fromMs: Millis
  readonly toMs: Millis
}

/** Members report once a second and we look twice: shorter gaps are how we see, not what happens. */
const noticedAfterMs = 3 * second

const lengthOf = ({ fromMs, toMs }: Stall): Millis => toMs - fromMs

export const secondsOf = (stall: Stall): Seconds => Math.round(lengthOf(stall) / 100) / 10

export class Pulse {
  readonly #samples = new Map<string, number>()
  readonly #stalls: Stall[] = []
  /** The gap that lasts; undefined while too few live to train at all. */
  #quietSinceMs: Millis | undefined
  #longest: Stall
  #over = false

  /** Training is seen at this moment. */
  constructor(atMs: Millis) {
    this.#quietSinceMs = atMs
    this.#longest = { fromMs: atMs, toMs: atMs }
  }

  /**
   * @param samples - trained by this peer under its present stage; less than before means that it has a new stage
   * @returns the stall that this ends
   */
  see(peer: string, samples: number, atMs: Millis): Stall | undefined {
    const before = this.#samples.get(peer) ?? 0
    this.#samples.set(peer, samples)
    if (samples <= before || this.#over) return undefined
    const stall = this.#close(atMs)
    if (this.#quietSinceMs !== undefined) this.#quietSinceMs = atMs
    return stall
  }

  /** Whether so many peers live that they could train. Only then a gap is a stall. */
  enough(live: boolean, atMs: Millis): void {
    if (this.#over) return
    if (live) this.#quietSinceMs ??= atMs
    else {
      this.#close(atMs)
      this.#quietSinceMs = undefined
    }
  }

  /** The end of the time: what comes later is not looked at. */
  end(atMs: Millis): Stall | undefined {
    if (this.#over) return undefined
    this.#over = true
    return this.#close(atMs)
  }

  #close(toMs: Millis): Stall | undefined {
    if (this.#quietSinceMs === undefined) return undefined
    const stall = { fromMs: this.#quietSinceMs, toMs }
    if (lengthOf(stall) > lengthOf(this.#longest)) this.#longest = stall
    if (lengthOf(stall) < noticedAfterMs) return undefined
    this.#stalls.push(stall)
    return stall
  }

  get stalls(): readonly Stall[] {
    return this.#stalls
  }

  /** Of all gaps, those too short to be called stalls among them. */
  get longest(): Stall {
    return this.#longest
  }
}
