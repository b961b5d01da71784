/** What a simulation counts. Rates and shares are of the time after the warm-up, sums of the whole run. */
import type { PeerId } from '../../shared/ids.ts'
import type { Millis } from '../../shared/units.ts'

/** Micro-batches that came back to one root. */
interface Returns {
  count: number
  /** Since its last average, or its stage's beginning: lost with the cluster. */
  unaveraged: number
}

export class Meters {
  readonly #warmMs: Millis
  readonly #returns = new Map<PeerId, Returns>()
  readonly #busyMs = new Map<PeerId, Millis>()
  readonly #gatedMs = new Map<PeerId, Millis>()
  /** Of all micro-batches and stages, by staleness. */
  readonly staleness: number[] = []
  readonly rounds = { averaged: 0, abandoned: 0 }
  /** Micro-batches trained after the warm-up, and in all. */
  trainedWarm = 0
  trained = 0
  /** Trained, and gone with a cluster that lost a PC before its next average. */
  lost = 0
  /** When the last stage had reached its target, where there is one. */
  endedMs: Millis | undefined

  constructor(warmMs: Millis) {
    this.#warmMs = warmMs
  }

  returned(root: PeerId, nowMs: Millis): void {
    const returns = this.#returns.get(root) ?? { count: 0, unaveraged: 0 }
    this.#returns.set(root, returns)
    returns.count += 1
    returns.unaveraged += 1
    this.trained += 1
    if (nowMs > this.#warmMs) this.trainedWarm += 1
  }

  /** Its engine worked. */
  worked(peer: PeerId, sinceMs: Millis, untilMs: Millis): void {
    this.#add(this.#busyMs, peer, untilMs - Math.max(sinceMs, this.#warmMs))
  }

  /** Its updates waited for an average. */
  gated(peer: PeerId, sinceMs: Millis, untilMs: Millis): void {
    this.#add(this.#gatedMs, peer, untilMs - Math.max(sinceMs, this.#warmMs))
  }

  #add(sums: Map<PeerId, Millis>, peer: PeerId, more: Millis): void {
    if (more > 0) sums.set(peer, (sums.get(peer) ?? 0) + more)
  }

  busyMs(peer: PeerId): Millis {
    return this.#busyMs.get(peer) ?? 0
  }

  gatedMs(peer: PeerId): Millis {
    return this.#gatedMs.get(peer) ?? 0
  }

  averaged(root: PeerId): void {
    const returns = this.#returns.get(root)
    if (returns !== undefined) returns.unaveraged = 0
  }

  /** A cluster is gone; what it learned since its last average is, too. */
  dropped(root: PeerId): void {
    this.lost += this.#returns.get(root)?.unaveraged ?? 0
    this.averaged(root)
  }

  stale(counts: readonly number[]): void {
    for (const [staleness, count] of counts.entries())
      this.staleness[staleness] = (this.staleness[staleness] ?? 0) + count
  }
}
