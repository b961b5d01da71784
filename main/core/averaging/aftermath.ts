/**
 * What becomes of rounds that were in doubt when their plan ended. Whoever goes on tells the others the last round whose
 * mean it holds. A round is committed if all of them hold its mean, and given up otherwise: each decides by the same
 * words, and where one had committed before, all do hold it.
 */
import { BadMessageError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { Running } from './running.ts'

/** A ring whose plan is over. */
export interface Retired {
  readonly planNumber: number
  /** Index in that plan. */
  readonly ring: number
  /** The others. */
  readonly others: readonly PeerId[]
  /** Last round that it committed; 0: none. */
  readonly committed: number
  /** What it had begun, if that is not over; it ends by itself once decided. */
  readonly running: Running | undefined
  readonly over: Promise<void>
}

/** What goes on under the new plan. */
interface NextPlan {
  readonly planNumber: number
  /** Who is in a ring with us. */
  readonly present: ReadonlySet<PeerId>
  /** Whether we hold an active stage. */
  readonly active: boolean
}

interface Entry extends Omit<Retired, 'others'> {
  /** Who was in the ring and in every plan since: only grows smaller. */
  readonly others: readonly PeerId[]
  /** What they said under the newest plan. */
  readonly words: Map<PeerId, number>
}

type Tell = (to: PeerId, word: Pick<Header<'round-held'>, 'ring' | 'round' | 'of'>) => void

/** Plans that end within the way of one message. What is older, everyone has decided. */
const mostPlans = 4

export class Aftermath {
  readonly #tell: Tell
  readonly #onOver: () => void
  #entries: readonly Entry[] = []
  readonly #open = new Set<Promise<void>>()

  /** @param onOver - every round of earlier plans is decided and written */
  constructor(tell: Tell, onOver: () => void) {
    this.#tell = tell
    this.#onOver = onOver
  }

  /** The plan has ended: these rings, too, whatever they were doing. */
  carryOver(retired: readonly Retired[], next: NextPlan): void {
    for (const { running, over } of retired) if (running !== undefined) this.#watch(over)
    const fresh = retired.map((ring) => ({ ...ring, words: new Map<PeerId, number>() }))
    this.#entries = [...this.#entries, ...fresh]
      .map((entry) => ({ ...entry, others: entry.others.filter((peer) => next.present.has(peer)) }))
      .filter(
        ({ planNumber, running }) => running?.inDoubt === true || planNumber > next.planNumber - mostPlans,
      )
    for (const entry of this.#entries) {
      entry.words.clear()
      const word = { ring: entry.ring, round: heldBy(entry), of: entry.planNumber }
      for (const peer of entry.others) this.#tell(peer, word)
      if (next.active) decide(entry)
      else entry.running?.giveUp('this PC is in no ring of the new plan')
    }
  }

  /** @throws BadMessageError, and then nothing has changed */
  hear(from: PeerId, { ring, of, round }: Header<'round-held'>): void {
    const entry = this.#entries.find((one) => one.planNumber === of && one.ring === ring)
    if (entry === undefined) return // it came into the job, or back, after that plan
    if (!entry.others.includes(from))
      throw new BadMessageError(`${from} was not in ring ${ring} all the while`)
    entry.words.set(from, round)
    decide(entry)
  }

  #watch(over: Promise<void>): void {
    this.#open.add(over)
    void over.then(() => {
      this.#open.delete(over)
      if (this.#open.size === 0) this.#onOver()
    })
  }

  /** A round of an earlier plan is not decided, or not written yet. */
  get isOpen(): boolean {
    return this.#open.size > 0
  }

  /** Whose word is missing. */
  get waitingFor(): PeerId[] {
    const doubted = this.#entries.filter(({ running }) => running?.inDoubt === true)
    return doubted.flatMap(({ others, words }) => others.filter((peer) => !words.has(peer)))
  }

  /** Resolves when nothing is open. */
  async over(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}

/** The last round whose mean we hold, and may have to write. */
function heldBy({ running, committed }: Entry): number {
  return running?.isOfAll === true ? running.round : committed
}

function decide({ running, others, words }: Entry): void {
  if (running?.inDoubt !== true || !others.every((peer) => words.has(peer))) return
  if (others.every((peer) => words.get(peer) === running.round)) running.commit()
  else running.giveUp('another member does not hold the mean of the last round')
}
