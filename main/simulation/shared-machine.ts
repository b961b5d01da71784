/** Participants on one machine, as in a demo: their engines and their messages share its processors. */
import type { PeerId } from '../../shared/ids.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import type { Pool } from '../../shared/plan/pool.ts'
import { type Bytes, type Millis, second } from '../../shared/units.ts'
import { createLinkTable } from '../core/planner/link-table.ts'
import { transferSeconds } from '../core/planner/cost.ts'
import type { CrowdCosts, SharedProcessors } from '../core/planner/shared-processors.ts'
import type { Links } from '../core/ports.ts'
import type { SimulationClock } from './clock.ts'

interface Work {
  /** What everybody at work will have been given by then. */
  readonly end: Millis
  readonly beganMs: Millis
  readonly resolve: (beganMs: Millis) => void
}

/** All that is to be done at once gets the same share of them, and no more than one processor. */
export class Processors {
  readonly #clock: SimulationClock
  readonly #count: number
  /** By their ends. */
  readonly #works: Work[] = []
  /** What one who was at work from the beginning would have been given, by the moment below. */
  #given: Millis = 0
  #givenAtMs: Millis = 0
  /** Of the deed that is to end the next work: an older one was for another number of works. */
  #turn = 0

  /** @param count - engines that compute at full speed at once; not always whole */
  constructor(clock: SimulationClock, count: number) {
    this.#clock = clock
    this.#count = count
  }

  /** @returns when it began; resolves when it is done */
  work(duration: Millis): Promise<Millis> {
    return new Promise((resolve) => {
      this.#advance()
      const work = { end: this.#given + duration, beganMs: this.#clock.now(), resolve }
      const behind = this.#works.findIndex(({ end }) => end > work.end)
      this.#works.splice(behind === -1 ? this.#works.length : behind, 0, work)
      this.#expect()
    })
  }

  get #speed(): number {
    return Math.min(1, this.#count / Math.max(1, this.#works.length))
  }

  #advance(): void {
    const now = this.#clock.now()
    this.#given += (now - this.#givenAtMs) * this.#speed
    this.#givenAtMs = now
  }

  #expect(): void {
    const [next] = this.#works
    if (next === undefined) return
    const turn = ++this.#turn
    const inMs = Math.max(0, next.end - this.#given) / this.#speed
    this.#clock.at(this.#clock.now() + inMs, () => {
      if (turn === this.#turn) this.#finish(next)
    })
  }

  #finish(work: Work): void {
    this.#advance()
    this.#works.shift()
    // Not a rounding error less.
    this.#given = Math.max(this.#given, work.end)
    work.resolve(work.beganMs)
    this.#expect()
  }
}

export interface MachineSettings {
  readonly clock: SimulationClock
  readonly pool: Pool
  readonly shared: SharedProcessors
  readonly bodyBytes: (from: PeerId, message: WireMessage) => Bytes
}

/** The same counting as the forecast's, in `core/planner/shared-processors.ts`. */
export class SharedMachine {
  readonly #processors: Processors
  readonly #settings: MachineSettings
  /** One way of a small message between two of its participants. */
  readonly #messageMs: (from: PeerId, to: PeerId, bytes: Bytes) => Millis

  constructor(settings: MachineSettings) {
    const { clock, pool, shared } = settings
    this.#settings = settings
    this.#processors = new Processors(clock, shared.processors)
    const places = new Map(pool.peers.map(({ id }, place) => [id, place]))
    const ways = createLinkTable(pool)
    this.#messageMs = (from, to, bytes) => {
      const [a, b] = [places.get(from) ?? -1, places.get(to) ?? -1]
      const small = shared.crowd === undefined ? ways.latency(a, b) : shared.crowd.exchangeSeconds / 2
      return (small + transferSeconds(bytes, ways.bandwidth(a, b))) * second
    }
  }

  /** Its processors; undefined: the peer is elsewhere. */
  processorsOf(peer: PeerId): Processors | undefined {
    return this.#settings.shared.peers.has(peer) ? this.#processors : undefined
  }

  /** What it costs to be here with others; undefined: as each was measured alone. */
  crowdOf(peer: PeerId): CrowdCosts | undefined {
    const { peers, crowd } = this.#settings.shared
    return peers.has(peer) ? crowd : undefined
  }

  /** What passes between two here, the processors write, encrypt, copy and read before it arrives. */
  linksOf(links: Links): Links {
    const { shared, bodyBytes } = this.#settings
    if (!shared.peers.has(links.self)) return links
    return {
      ...links,
      send: async (to, message, signal) => {
        if (shared.peers.has(to))
          await this.#processors.work(this.#messageMs(links.self, to, bodyBytes(links.self, message)))
        return links.send(to, message, signal)
      },
    }
  }
}
