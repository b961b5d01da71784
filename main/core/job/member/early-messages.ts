/** Messages for a stage that is not ready yet: a neighbour may be ready, and hear `start`, before us. */
import { reportOf } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import type { Log } from '../../ports.ts'

/** A cluster sends no more before its first gradient returns. */
const maxEarlyMessages = 1024

export class EarlyMessages {
  readonly #log: Log
  #kept: { readonly from: PeerId; readonly message: WireMessage }[] = []

  constructor(log: Log) {
    this.#log = log
  }

  keep(from: PeerId, message: WireMessage): void {
    if (this.#kept.length < maxEarlyMessages) this.#kept.push({ from, message })
  }

  /** In the order they came. One that cannot be used is logged. */
  deliver(take: (from: PeerId, message: WireMessage) => void): void {
    const kept = this.#kept
    this.#kept = []
    for (const { from, message } of kept) {
      try {
        take(from, message)
      } catch (error) {
        this.#log('warn', reportOf(error).message)
      }
    }
  }
}
