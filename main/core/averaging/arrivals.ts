/** How long something usually takes, and from when on it is late. */
import { type Millis, second } from '../../../shared/units.ts'

const mostKept = 32
/** Fewer say nothing of what is usual. */
const leastSeen = 5
/** MADs above the median: about four standard deviations where times are normally distributed. */
const tolerance = 6
/** A spread below this share of the median is chance, not precision. */
const leastSpread = 1 / 8
/** Nobody minds a shorter wait, and a pause of the garbage collector is no fault. */
const leastMs = second

/** The newest arrivals of one kind. */
export class Arrivals {
  readonly #seenMs: Millis[] = []

  see(tookMs: Millis): void {
    this.#seenMs.push(tookMs)
    if (this.#seenMs.length > mostKept) this.#seenMs.shift()
  }

  /** Median + k·MAD: what takes longer is late. Undefined while too little was seen. */
  get lateAfterMs(): Millis | undefined {
    if (this.#seenMs.length < leastSeen) return undefined
    const usual = medianOf(this.#seenMs)
    const deviation = medianOf(this.#seenMs.map((ms) => Math.abs(ms - usual)))
    return Math.max(leastMs, usual + tolerance * Math.max(deviation, usual * leastSpread))
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}
