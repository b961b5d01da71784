/** Real time. */
import { setTimeout as delay } from 'node:timers/promises'
import { AbortedError } from '../../shared/errors.ts'
import type { Clock } from '../core/ports.ts'

export const realClock: Clock = {
  now: () => performance.now(),
  async sleep(duration, signal) {
    try {
      await delay(duration, undefined, signal === undefined ? {} : { signal })
    } catch {
      throw new AbortedError('stopped')
    }
  },
}
