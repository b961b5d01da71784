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

export class Readiness {
  readonly #said: ReadonlyMap<PeerId, Said>

  /** @param members - all of the ring, ourselves too */
  constructor(members: readonly PeerId[]) {
    this.#said = new Map(members.map((peer) => [peer, { ready: 0, stuck: false, drained: false }]))
  }

  hear(peer: PeerId, round: number): void {
    const said = this.#said.get(peer)
    if (said === undefined) return
    if (round === lastRound) said.drained = true
    else if (round === said.ready) said.stuck = true
    else if (round > said.ready) Object.assign(said, { ready: round, stuck: false })
  }

  isReady(peer: PeerId, round: number): boolean {
    const said = this.#said.get(peer)
    return said !== undefined && (said.ready === round || said.drained)
  }

  /** Somebody made its updates and asks for this round. */
  isCalledFor(round: number): boolean {
    return [...this.#said.values()].some(({ ready }) => ready === round)
  }

  /** Somebody can train no further until this round is over. */
  isUrgent(round: number): boolean {
    return [...this.#said.values()].some(({ ready, stuck }) => ready === round && stuck)
  }

  /** Members that are not ready for this round. */
  missing(round: number): PeerId[] {
    return [...this.#said.keys()].filter((peer) => !this.isReady(peer, round))
  }

  /** The round that begins now, where `next` is the next regular one; undefined while somebody is missing. */
  beginning(next: number): number | undefined {
    if (this.missing(next).length > 0) return undefined
    return this.isCalledFor(next) ? next : lastRound
  }
}
