/** What was measured of a model, in one clause. */
import type { Scores } from '../../../shared/model/graph.ts'
import { few, percent } from './numbers.ts'
import { lossWords } from './curve.ts'

export const scoresInWords = ({ accuracy, top5, loss, perplexity }: Scores): string =>
  `${percent(accuracy)} right, ${percent(top5)} among the best five, loss ${lossWords(loss)}, perplexity ${few(perplexity)}`
