/** What the next PC would bring, for whoever thinks of asking a friend. */
import type { Outlook, Prospect } from '../../../shared/messages/cards.ts'

/** Less is no reason to ask anybody. */
const leastPercent = 3

const middle = ({ samplesPerSecond: [low, high] }: Prospect) => (low + high) / 2

/** One sentence. */
export function gainInWords({ withYou, withOneMore }: Pick<Outlook, 'withYou' | 'withOneMore'>): string {
  if (withOneMore === null) return 'The model does not fit yet; more PCs or more memory are needed.'
  if (withYou === null) return 'One more PC like this one, and the model fits.'
  const percent = Math.round(100 * (middle(withOneMore) / middle(withYou) - 1))
  return percent < leastPercent
    ? 'One more PC like this one would bring nothing.'
    : `One more PC like this one would bring ${percent} % more samples a second.`
}
