/** When things happened that the roll only knows to be so. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Millis } from '../../../../shared/units.ts'
import type { Roll } from './roll.ts'

export class Moments {
  readonly #lostAtMs = new Map<PeerId, Millis>()
  #averaged = 0
  /** Of the newest round that some member averaged; undefined before the first. */
  lastAveragedAtMs: Millis | undefined

  /** Look at the roll: what is new in it happened now. */
  see(roll: Roll, nowMs: Millis): void {
    const rounds = roll.all.map(({ progress }) => progress?.rounds.averaged ?? 0)
    const averaged = rounds.reduce((sum, count) => sum + count, 0)
    if (averaged > this.#averaged) this.lastAveragedAtMs = nowMs
    this.#averaged = averaged
    for (const { peer, state } of roll.all) {
      if (state !== 'lost') this.#lostAtMs.delete(peer)
      else if (!this.#lostAtMs.has(peer)) this.#lostAtMs.set(peer, nowMs)
    }
  }

  lostAtMs(peer: PeerId): Millis | undefined {
    return this.#lostAtMs.get(peer)
  }
}
