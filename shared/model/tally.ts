/** Sums of what was measured, and their means. */
import type { Scores, Tally } from './graph.ts'

export const emptyTally: Tally = { lossSum: 0, labels: 0, correct: 0, correctTop5: 0 }

export function addTallies(a: Tally, b: Tally): Tally {
  return {
    lossSum: a.lossSum + b.lossSum,
    labels: a.labels + b.labels,
    correct: a.correct + b.correct,
    correctTop5: a.correctTop5 + b.correctTop5,
  }
}

/** Means; undefined when nothing was counted or the loss is not finite. */
export function scoresOf(tally: Tally): Scores | undefined {
  const { lossSum, labels, correct, correctTop5 } = tally
  if (labels === 0 || !Number.isFinite(lossSum)) return undefined
  const loss = lossSum / labels
  // exp overflows beyond 709: an enormous perplexity says as much as a larger one.
  return {
    loss,
    accuracy: correct / labels,
    top5: correctTop5 / labels,
    perplexity: Math.exp(Math.min(loss, 700)),
  }
}
