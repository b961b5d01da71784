/** Who was there while a job trained: what a later plan may count on. */
import type { PeerId } from '../../../../shared/ids.ts'
import { type Millis, minute } from '../../../../shared/units.ts'
import type { PeerAttendance } from '../learned.ts'
import type { Enrolled } from './roll.ts'

/** A shorter time in a job says nothing of the next evening. */
const enoughMs = 10 * minute

interface Stay {
  thereMs: Millis
  wholeMs: Millis
}

/** One who said goodbye promised no more; one who pauses is away like one who is lost. */
const isExpected = ({ state, wish }: Enrolled) => !(state === 'lost' && wish === 'leave')
const isThere = ({ state, wish }: Enrolled) => state !== 'lost' && wish !== 'pause'

/** Sums of what was seen every few seconds. */
export class Attendance {
  readonly #stays = new Map<PeerId, Stay>()

  /** So long they were as they are now. */
  add(entries: readonly Enrolled[], duration: Millis): void {
    for (const entry of entries) {
      if (!isExpected(entry)) continue
      const stay = this.#stays.get(entry.peer) ?? { thereMs: 0, wholeMs: 0 }
      this.#stays.set(entry.peer, stay)
      stay.wholeMs += duration
      if (isThere(entry)) stay.thereMs += duration
    }
  }

  /** Of the time from its joining to the end or to its goodbye; nobody whose time was short. */
  shares(): PeerAttendance[] {
    return [...this.#stays].flatMap(([peer, { thereMs, wholeMs }]) =>
      wholeMs < enoughMs ? [] : [{ peer, share: thereMs / wholeMs }],
    )
  }
}
