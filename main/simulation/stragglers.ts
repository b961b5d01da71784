/** How much longer a piece of work takes than its profile says: PCs are not as even as a profile. */
import { InvalidInputError } from '../../shared/errors.ts'
import { nextNormal, type Rng } from '../../shared/random.ts'

/** `deviation`: of the logarithm (lognormal, median 1), or of the factor itself (normal, mean 1, drawn again outside [0.5, 1.5]). */
export interface Stragglers {
  readonly type: 'none' | 'lognormal' | 'normal'
  readonly deviation: number
}

export const noStragglers: Stragglers = { type: 'none', deviation: 0 }

const mostDeviation = 3
const least = 0.5
const most = 1.5

/** The factor of one piece of work. @see algorithms 0.6: exp(s·z), and the truncated normal */
export function drawFactor({ type, deviation }: Stragglers, rng: Rng): number {
  if (type === 'none' || deviation === 0) return 1
  if (type === 'lognormal') return Math.exp(deviation * nextNormal(rng))
  for (;;) {
    const factor = 1 + deviation * nextNormal(rng)
    if (factor >= least && factor <= most) return factor
  }
}

/** `none`, `lognormal:0.1` or `normal:0.08`. @throws InvalidInputError */
export function parseStragglers(text: string): Stragglers {
  const [type, spread = ''] = text.split(':')
  const deviation = Number(spread)
  if (type === 'none' && spread === '') return noStragglers
  const isKnown = type === 'lognormal' || type === 'normal'
  if (isKnown && spread.trim() !== '' && deviation >= 0 && deviation <= mostDeviation)
    return { type, deviation }
  throw new InvalidInputError(
    `--stragglers takes none, lognormal:S or normal:S with S from 0 to ${mostDeviation}, not "${text}"`,
  )
}
