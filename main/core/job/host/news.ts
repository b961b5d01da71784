/** The host's news to its members: about once a second what changed, and at once where the job's phase did. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { JobView } from '../../../../shared/messages/control.ts'
import { second } from '../../../../shared/units.ts'
import type { HostState } from './host-state.ts'
import { NewsLetter } from './news-letter.ts'

const everyMs = second
/** A member that knows nothing yet hears a long job in several letters, so many a time. */
const mostAtOnce = 8

export class News {
  readonly #host: HostState
  readonly #view: () => Omit<JobView, 'invite'>
  readonly #letters = new Map<PeerId, NewsLetter>()
  readonly #telling = new Map<PeerId, Promise<void>>()

  constructor(host: HostState, view: () => Omit<JobView, 'invite'>) {
    this.#host = host
    this.#view = view
  }

  /** Until the signal. Never rejects. */
  async tell(signal: AbortSignal): Promise<void> {
    const { watch } = this.#host
    try {
      while (!signal.aborted) {
        const { phase } = this.#host
        this.#tellAll()
        await watch.until(() => this.#host.phase !== phase, { signal, withinMs: everyMs })
      }
    } catch {
      // The job is over.
    }
  }

  /** What nobody was told yet, before the links close. */
  async tellTheRest(): Promise<void> {
    await Promise.all(this.#telling.values())
    this.#tellAll()
    await Promise.all(this.#telling.values())
  }

  /** A member missed something: tell it everything once more, when the next news are due. */
  startOver(peer: PeerId): void {
    this.#letters.delete(peer)
  }

  #tellAll(): void {
    const { roll, ports } = this.#host
    for (const peer of this.#letters.keys()) if (!roll.isPresent(peer)) this.#letters.delete(peer)
    for (const { peer } of roll.present) {
      // The transport of a slow one still has the news before.
      if (peer === ports.links.self || this.#telling.has(peer)) continue
      const told = this.#tellOne(peer).finally(() => this.#telling.delete(peer))
      this.#telling.set(peer, told)
    }
  }

  async #tellOne(peer: PeerId): Promise<void> {
    for (let count = 0; count < mostAtOnce; count++) {
      const letter = this.#letters.get(peer) ?? new NewsLetter()
      this.#letters.set(peer, letter)
      const body = letter.next(this.#host, this.#view())
      if (body === undefined) return
      await this.#host.send(peer, { type: 'job-news', ...body })
    }
  }
}
