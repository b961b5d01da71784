/**
 * A round under way, seen by one member. Two phases: numbers travel until a member holds the whole mean and says so; it
 * writes when all have said so. In between it is in doubt: it may not give the round up by itself, for others may
 * have written already, nor write, for others may never hold the mean.
 */
import { AbortedError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Millis } from '../../../shared/units.ts'

export class Running {
  readonly round: number
  readonly beganMs: Millis
  /** The others know of its end already. */
  toldByOther = false
  /** Who did not say yet that it holds the whole mean. */
  readonly #missing: Set<PeerId>
  readonly #verdict = Promise.withResolvers<undefined>()
  readonly #abort = new AbortController()
  #isWhole = false
  #committed = false

  constructor(round: number, members: readonly PeerId[], beganMs: Millis) {
    this.round = round
    this.beganMs = beganMs
    this.#missing = new Set(members)
    this.#verdict.promise.catch(() => undefined) // nobody asks for it before the mean is whole
  }

  /** Fires when the round is given up. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** All members hold the mean: it is written, whatever comes. */
  get committed(): boolean {
    return this.#committed
  }

  /** We hold the mean, and do not know whether all others do. */
  get inDoubt(): boolean {
    return this.#isWhole && !this.#committed && !this.signal.aborted
  }

  /** Decided, or in doubt: no member alone gives it up any more. */
  get isOfAll(): boolean {
    return this.#committed || this.inDoubt
  }

  /** For a person. @param before - who sends to us */
  waitingFor(before: PeerId): string {
    if (!this.inDoubt) return `waiting for ${before} to send its part of the average`
    return `waiting for ${[...this.#missing].join(', ')} to have the whole average`
  }

  hearWhole(peer: PeerId): void {
    this.#missing.delete(peer)
    if (this.#missing.size === 0) this.commit()
  }

  /** We hold the mean. Resolves when it may be written. @throws AbortedError when the round was given up */
  async becomeWhole(self: PeerId): Promise<void> {
    if (this.signal.aborted) throw new AbortedError('the round was given up')
    this.#isWhole = true
    this.hearWhole(self)
    await this.#verdict.promise
  }

  commit(): void {
    if (this.signal.aborted) return
    this.#committed = true
    this.#verdict.resolve(undefined)
  }

  /** Nothing changes any more once it is committed. */
  giveUp(reason: string): void {
    if (this.#committed) return
    this.#verdict.reject(new AbortedError(reason))
    this.#abort.abort()
  }
}
