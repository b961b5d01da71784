/** How fast it goes and how long it will take, from what was seen so far. */
import type { Millis } from '../../../shared/units.ts'
import { second } from '../../../shared/units.ts'

/** Long enough to hold several updates, short enough to notice a change. */
const windowMs = 15 * second

interface Sighting {
  readonly atMs: Millis
  readonly updates: number
  readonly samples: number
}

/** Watches counters grow. */
export class Pace {
  #sightings: Sighting[] = []

  see(sighting: Sighting): void {
    this.#sightings.push(sighting)
    const first = this.#sightings[0]
    // The first sighting stays: the whole run's average is one end of the range.
    const recent = this.#sightings.filter((seen) => seen === first || sighting.atMs - seen.atMs <= windowMs)
    this.#sightings = recent.length > 64 ? recent.filter((_, index) => index % 2 === 0) : recent
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
