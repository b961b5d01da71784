/** Do something after every request, but not more often than once in a while. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/ports.ts'
import type { Millis } from '../../../shared/units.ts'

/** The part of a clock that a pace needs. */
export type PaceClock = Pick<Clock, 'now' | 'sleep'>

/** The machine's own time; its sleeps keep no process alive. */
export const machineClock: PaceClock = {
  now: () => performance.now(),
  sleep: (duration, signal) =>
    sleep(duration, undefined, signal === undefined ? { ref: false } : { ref: false, signal }),
}

export interface Pace {
  /** Ask for the deed. Requests made before it is done are one request. */
  request(): void
  stop(): void
}

/** The deed follows every request, at least `gapMs` after the one before; the last request is never lost. */
export function createPace(clock: PaceClock, plan: { gapMs: Millis; deed: () => void }): Pace {
  const ending = new AbortController()
  let waits = false
  let lastMs = Number.NEGATIVE_INFINITY
  const fire = (): void => {
    waits = false
    lastMs = clock.now()
    plan.deed()
  }
  return {
    request() {
      if (waits || ending.signal.aborted) return
      waits = true
      const rest = Math.max(0, lastMs + plan.gapMs - clock.now())
      clock.sleep(rest, ending.signal).then(fire, () => undefined)
    },
    stop() {
      ending.abort()
    },
  }
}
