/** Messages on their way to one neighbour: sent one after another, while the engine works on. */
import type { PeerId } from '../../../shared/ids.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import type { Links } from '../ports.ts'

interface OutboxSettings {
  readonly links: Links
  readonly to: PeerId
  /** Messages not yet taken by the transport before the stage stops making more. */
  readonly limit: number
  readonly signal: AbortSignal
  readonly onSent: () => void
  readonly onFailed: (error: unknown) => void
}

/** Bounded by its user: it asks `full` before it makes a message. So a slow link's back-pressure reaches the root. */
export class Outbox {
  readonly #settings: OutboxSettings
  #waiting = 0
  #last: Promise<void> = Promise.resolve()

  constructor(settings: OutboxSettings) {
    this.#settings = settings
  }

  get full(): boolean {
    return this.#waiting >= this.#settings.limit
  }

  get to(): PeerId {
    return this.#settings.to
  }

  post(message: WireMessage): void {
    this.#waiting += 1
    this.#last = this.#last.then(() => this.#send(message))
  }

  async #send(message: WireMessage): Promise<void> {
    const { links, to, signal, onSent, onFailed } = this.#settings
    if (signal.aborted) return
    try {
      await links.send(to, message, signal)
      this.#waiting -= 1
      onSent()
    } catch (error) {
      onFailed(error)
    }
  }
}
