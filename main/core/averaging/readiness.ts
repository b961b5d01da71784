/** Who in a ring is ready for which round, as far as they said; and so which round begins. */
import type { PeerId } from '../../../shared/ids.ts'

/**
 * The number of the last round. A member that has drained says it is ready for this one, and is then ready for any:
 * it joins every round that others still call for, and the last begins when all have drained and no round is called for.
 * What a member says arrives in the order said, so all members begin the same rounds.
 */
export const lastRound = Number.MAX_SAFE_INTEGER

interface Said {
  /** The newest regular round it is ready for; 0: none. */
  ready: number
  /** It said so twice: it can train no further until that round is over. */
  stuck: boolean
  drained: boolean
}

/** Of the members whose newest round is one and the same. */
interface Count {
  ready: number
  stuck: number
  drained: number
}

/** A ring of C hears C words a member and round, so each word and question takes the same time for any C. */
export class Readiness {
  readonly #said: ReadonlyMap<PeerId, Said>
  /** By round; at most one entry a member. */
  readonly #counts = new Map<number, Count>()
  #drained = 0

  /** @param members - all of the ring, ourselves too */
  constructor(members: readonly PeerId[]) {
    this.#said = new Map(members.map((peer) => [peer, { ready: 0, stuck: false, drained: false }]))
    this.#counts.set(0, { ready: this.#said.size, stuck: 0, drained: 0 })
  }

  hear(peer: PeerId, round: number): void {
    const said = this.#said.get(peer)
    if (said === undefined) return
    if (round === lastRound) this.#change(said, { ...said, drained: true })
    else if (round === said.ready) this.#change(said, { ...said, stuck: true })
    else if (round > said.ready) this.#change(said, { ...said, ready: round, stuck: false })
  }

  #change(said: Said, next: Said): void {
    this.#count(said, -1)
    Object.assign(said, next)
    this.#count(said, 1)
  }

  #count({ ready, stuck, drained }: Said, by: 1 | -1): void {
    const count = this.#counts.get(ready) ?? { ready: 0, stuck: 0, drained: 0 }
    count.ready += by
    if (stuck) count.stuck += by
    if (drained) {
      count.drained += by
      this.#drained += by
    }
    if (count.ready === 0) this.#counts.delete(ready)
    else this.#counts.set(ready, count)
  }

  isMember(peer: PeerId): boolean {
    return this.#said.has(peer)
  }

  isReady(peer: PeerId, round: number): boolean {
    const said = this.#said.get(peer)
    return said !== undefined && (said.ready === round || said.drained)
  }

  /** Somebody made its updates and asks for this round. */
  isCalledFor(round: number): boolean {
    return this.#counts.has(round)
  }

  /** Somebody can train no further until this round is over. */
  isUrgent(round: number): boolean {
    return (this.#counts.get(round)?.stuck ?? 0) > 0
  }

  /** Members that are not ready for this round. */
  missing(round: number): PeerId[] {
    return [...this.#said.keys()].filter((peer) => !this.isReady(peer, round))
  }

  /** The round that begins now, where `next` is the next regular one; undefined while somebody is missing. */
  beginning(next: number): number | undefined {
    const called = this.#counts.get(next)
    const ready = this.#drained + (called === undefined ? 0 : called.ready - called.drained)
    if (ready < this.#said.size) return undefined
    return this.isCalledFor(next) ? next : lastRound
  }
}
