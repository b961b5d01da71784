/** A stage's books: which weights each micro-batch saw, how stale its gradient was, when an update is due. */
import { InvariantError } from '../../../shared/errors.ts'
import type { StageEvent, StageProgress } from './assignment.ts'

interface Outstanding {
  readonly microBatch: number
  /** Updates made before its forward pass. */
  readonly version: number
}

interface LedgerSettings {
  /** A. */
  readonly accumulate: number
  readonly staleness: 'none' | 'predict'
  readonly onEvent?: ((event: StageEvent) => void) | undefined
}

/**
 * Micro-batches go forward and come back in the same order, so micro-batch number p since the last update (counting
 * those gathered and those still out) is applied by the update after next ⌊p / A⌋: that many updates, τ, will change
 * the weights between its forward pass and the update that holds it. Its staleness when it returns is the same number.
 */
export class Ledger {
  forwarded = 0
  backwarded = 0
  /** Micro-batches gathered for the next update. */
  accumulated = 0
  updates = 0
  samples = 0
  dropped = 0
  stateVersion = 0
  readonly stalenessCounts: number[] = []
  readonly #settings: LedgerSettings
  readonly #outstanding: Outstanding[] = []
  #gatheredSamples = 0
  #updating = false

  constructor(settings: LedgerSettings) {
    this.#settings = settings
  }

  /** An update in progress counts as made: whoever reads the engine's numbers now reads them after it. */
  progress(): StageProgress {
    return {
      updates: this.updates + (this.#updating ? 1 : 0),
      samples: this.samples + (this.#updating ? this.#gatheredSamples : 0),
      stateVersion: this.stateVersion,
    }
  }

  get maxStaleness(): number {
    return Math.max(0, this.stalenessCounts.length - 1)
  }

  /** Micro-batches whose forward pass is done or begun and whose backward pass is not. */
  get outstanding(): readonly number[] {
    return this.#outstanding.map(({ microBatch }) => microBatch)
  }

  /** Call just before the engine's forward pass. @returns τ for it */
  beginForward(microBatch: number): number {
    const ahead = Math.floor((this.accumulated + this.#outstanding.length) / this.#settings.accumulate)
    const predict = this.#settings.staleness === 'predict' ? ahead : 0
    this.#outstanding.push({ microBatch, version: this.updates })
    this.stateVersion += 1
    this.#settings.onEvent?.({ type: 'forward', microBatch, version: this.updates, predict })
    return predict
  }

  endForward(): void {
    this.forwarded += 1
  }

  /** Call when a micro-batch's gradient was added to the accumulated one. */
  endBackward(microBatch: number, samples: number): void {
    const oldest = this.#outstanding.shift()
    if (oldest?.microBatch !== microBatch)
      throw new InvariantError(`micro-batch ${microBatch} came back out of order`)
    const staleness = this.updates - oldest.version
    while (this.stalenessCounts.length <= staleness) this.stalenessCounts.push(0)
    this.stalenessCounts[staleness] = (this.stalenessCounts[staleness] ?? 0) + 1
    this.backwarded += 1
    this.accumulated += 1
    this.#gatheredSamples += samples
    this.#settings.onEvent?.({ type: 'backward', microBatch, version: this.updates })
  }

  /** Call just before the engine's update. */
  beginUpdate(): void {
    this.#updating = true
    this.stateVersion += 1
  }

  endUpdate(applied: boolean): void {
    this.#settings.onEvent?.({ type: 'update', version: this.updates, applied })
    this.#updating = false
    this.updates += 1
    if (applied) this.samples += this.#gatheredSamples
    else this.dropped += 1
    this.accumulated = 0
    this.#gatheredSamples = 0
  }
}
