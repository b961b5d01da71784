/** A PC's own clock beside the true time: it began elsewhere and runs too fast or too slow. */
import type { Clock } from '../../main/core/ports.ts'
import type { Millis } from '../../shared/units.ts'

export interface Skew {
  readonly aheadMs: Millis
  /** Its seconds in a true one; quartz is within 1 ± 1e-4, a suspended virtual PC far from it. */
  readonly rate: number
}

export function skewedClock(clock: Clock, { aheadMs, rate }: Skew): Clock {
  return {
    now: () => clock.now() * rate + aheadMs,
    sleep: (duration, signal) => clock.sleep(duration / rate, signal),
  }
}
