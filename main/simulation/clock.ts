/** Virtual time for a whole pool: deeds in order of their moments, each with everything that follows from it at once. */
import { setImmediate } from 'node:timers/promises'
import { AbortedError } from '../../shared/errors.ts'
import type { Millis } from '../../shared/units.ts'
import type { Clock } from '../core/ports.ts'

export interface SimulationClock extends Clock {
  /** Do something at a moment; deeds of one moment in the order they were asked for. */
  at(moment: Millis, deed: () => void): void
  /** Let time pass to a moment, with everything that happens until then. */
  runTo(moment: Millis): Promise<void>
}

/** Deeds between two turns of the event loop, so that the process still hears signals. */
const deedsBetweenTurns = 8192

/** Every promise that is settled by now has had its say when this resolves. */
const settled = () =>
  new Promise<void>((resolve) => {
    process.nextTick(resolve)
  })

export function createSimulationClock(): SimulationClock {
  const schedule = new Schedule()
  let now: Millis = 0
  let deeds = 0
  const at = (moment: Millis, deed: () => void) => {
    schedule.add(Math.max(now, moment), deed)
  }
  return {
    at,
    now: () => now,
    sleep: (duration, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          reject(new AbortedError('the wait was cut short'))
        }
        if (signal?.aborted === true) stop()
        else {
          signal?.addEventListener('abort', stop)
          at(now + Math.max(0, duration), resolve)
        }
      }),
    async runTo(moment) {
      await settled()
      while (schedule.nextMoment <= moment) {
        now = schedule.nextMoment
        schedule.take()()
        await settled()
        if (++deeds % deedsBetweenTurns === 0) await setImmediate()
      }
      now = Math.max(now, moment)
    },
  }
}

/** A binary heap by moment, then by order of asking. */
class Schedule {
  readonly #moments: number[] = []
  readonly #orders: number[] = []
  readonly #deeds: (() => void)[] = []
  #asked = 0

  get nextMoment(): Millis {
    return this.#moments[0] ?? Infinity
  }

  add(moment: Millis, deed: () => void): void {
    const order = this.#asked++
    let place = this.#deeds.length
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (this.#isBefore(parent, moment, order)) break
      this.#move(parent, place)
      place = parent
    }
    this.#put(place, moment, order, deed)
  }

  take(): () => void {
    const first = this.#deeds[0]
    const moment = this.#moments.pop() ?? 0
    const order = this.#orders.pop() ?? 0
    const deed = this.#deeds.pop()
    if (deed !== undefined && this.#deeds.length > 0) this.#sink(moment, order, deed)
    return first ?? (() => undefined)
  }

  /** From the top to where it belongs. */
  #sink(moment: Millis, order: number, deed: () => void): void {
    const count = this.#deeds.length
    let place = 0
    for (let child = 1; child < count; child = 2 * place + 1) {
      const right = child + 1
      const least =
        right < count && this.#isBefore(right, this.#moments[child] ?? 0, this.#orders[child] ?? 0)
          ? right
          : child
      if (!this.#isBefore(least, moment, order)) break
      this.#move(least, place)
      place = least
    }
    this.#put(place, moment, order, deed)
  }

  #isBefore(place: number, moment: Millis, order: number): boolean {
    const own = this.#moments[place] ?? 0
    return own < moment || (own === moment && (this.#orders[place] ?? 0) < order)
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#moments[from] ?? 0, this.#orders[from] ?? 0, this.#deeds[from] ?? (() => undefined))
  }

  #put(place: number, moment: Millis, order: number, deed: () => void): void {
    this.#moments[place] = moment
    this.#orders[place] = order
    this.#deeds[place] = deed
  }
}
