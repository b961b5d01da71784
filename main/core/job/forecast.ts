/** How fast it goes and how long it will take, from what was seen so far. */
import type { Millis } from '../../../shared/units.ts'
import { second } from '../../../shared/units.ts'

/** Long enough to hold several updates, short enough to notice a change. */
const windowMs = 15 * second
/** Training that stands for less is how reports come in; slow PCs may take so many of their usual times. */
const stalledAfterMs = 10 * second
const stalledAfterTimes = 5

interface Sighting {
  readonly atMs: Millis
  readonly updates: number
  readonly samples: number
}

/** Watches counters grow. */
export class Pace {
  #sightings: Sighting[] = []
  /** Sightings with more samples than before, and when the first and the newest of them came. */
  #growths = 0
  #firstGrowthMs: Millis = 0
  #grewAtMs: Millis = 0

  see(sighting: Sighting): void {
    this.#noteGrowth(sighting)
    this.#sightings.push(sighting)
    const first = this.#sightings[0]
    // The first sighting stays: the whole run's average is one end of the range.
    const recent = this.#sightings.filter((seen) => seen === first || sighting.atMs - seen.atMs <= windowMs)
    this.#sightings = recent.length > 64 ? recent.filter((_, index) => index % 2 === 0) : recent
  }

  #noteGrowth({ atMs, samples }: Sighting): void {
    const last = this.#sightings.at(-1)
    if (last !== undefined && samples <= last.samples) return
    if (this.#growths === 0) this.#firstGrowthMs = atMs
    this.#growths += 1
    this.#grewAtMs = atMs
  }

  /** How long nothing was trained, where that is longer than this pool ever needs for a micro-batch; else undefined. */
  stalledForMs(nowMs: Millis): Millis | undefined {
    if (this.#growths === 0) return undefined
    const usualMs = (this.#grewAtMs - this.#firstGrowthMs) / Math.max(1, this.#growths - 1)
    const quietMs = nowMs - this.#grewAtMs
    return quietMs > Math.max(stalledAfterMs, stalledAfterTimes * usualMs) ? quietMs : undefined
  }

  #rate(from: Sighting | undefined, of: 'updates' | 'samples'): number {
    const last = this.#sightings.at(-1)
    if (from === undefined || last === undefined || last.atMs <= from.atMs) return 0
    return (last[of] - from[of]) / ((last.atMs - from.atMs) / second)
  }

  get samplesPerSecond(): number {
    return Math.max(0, this.#rate(this.#sightings[1] ?? this.#sightings[0], 'samples'))
  }

  /** Low and high, by the recent pace and by the whole run's; null until both are known. */
  secondsLeft(target: number): [number, number] | null {
    const made = this.#sightings.at(-1)?.updates ?? 0
    const rates = [this.#sightings[0], this.#sightings[1]].map((from) => this.#rate(from, 'updates'))
    if (rates.some((rate) => rate <= 0)) return null
    const estimates = rates.map((rate) => Math.max(0, target - made) / rate)
    // A tenth either way: paces seen on one evening differ by that much.
    return [Math.min(...estimates) * 0.9, Math.max(...estimates) * 1.1]
  }
}
