/** The machine's time, for what a test does over real sockets. */
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../../main/core/ports.ts'

export const realClock: Clock = {
  now: () => performance.now(),
  sleep: (duration, signal) => setTimeout(duration, undefined, signal === undefined ? {} : { signal }),
}
