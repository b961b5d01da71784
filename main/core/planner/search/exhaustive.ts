/** Every grouping of a small pool, scored: the exact search where that is affordable. */
import type { Candidate, Candidates } from './candidates.ts'
import { compareScores, type Score, type Scorer } from './score.ts'

/** Pools of up to so many peers are searched exhaustively: 1032 groupings of 325 ordered clusters for five. */
export const mostPeersExhaustive = 5

/** The best of all groupings of these peers; peers may stay idle. */
export function searchExhaustively(
  everyone: readonly number[],
  candidates: Candidates,
  scorer: Scorer,
): { readonly best: Score; readonly scored: number } {
  let best = scorer.score([])
  let scored = 0

  /** Decide on the peers from `index` on: idle, a cluster of its own, or any place of a cluster so far. */
  function decide(index: number, grouping: readonly Candidate[]): void {
    const peer = everyone[index]
    if (peer === undefined) {
      scored++
      const score = scorer.score(grouping)
      if (compareScores(score, best) < 0) best = score
      return
    }
    decide(index + 1, grouping)
    decide(index + 1, [...grouping, candidates.of([peer])])
    for (const [at, { order }] of grouping.entries()) {
      for (let place = 0; place <= order.length; place++)
        decide(index + 1, grouping.with(at, candidates.of(order.toSpliced(place, 0, peer))))
    }
  }

  decide(0, [])
  return { best, scored }
}
