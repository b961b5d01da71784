/** Which tokens are to be guessed: a pure function of job, row and epoch, so that root and leaf agree without a word. */
import { createRng, nextInt, seedFrom } from '../../../../shared/random.ts'

/** Share of the positions that are to be guessed. */
const guessedShare = 0.15
/** Of these, the share shown as the mask, and the share shown as a random token; the rest is shown as it is. */
const maskShare = 0.8
const randomShare = 0.1

export interface MaskSeed {
  /** Of the job. */
  readonly seed: number
  /** Absolute row. */
  readonly row: number
  readonly epoch: number
}

/** A position to be guessed and the token shown in its place. */
export interface Masked {
  readonly position: number
  readonly shown: number
}

/** The last id of the vocabulary stands for a token that is hidden. */
export function maskToken(vocabulary: number): number {
  return vocabulary - 1
}

/**
 * Positions to be guessed, in random order: 15 % of the length, at least one.
 *
 * @param tokens - the row's own tokens, [T]
 * @see Devlin et al. 2019, "BERT", section 3.1
 */
export function maskRow(tokens: Int32Array, vocabulary: number, { seed, row, epoch }: MaskSeed): Masked[] {
  const rng = createRng(seedFrom('mask', seed, epoch, row))
  const length = tokens.length
  const count = Math.max(1, Math.round(guessedShare * length))
  const positions = Uint32Array.from({ length }, (_, position) => position)
  return Array.from({ length: count }, (_, drawn) => {
    const other = drawn + nextInt(rng, length - drawn)
    const position = positions[other] ?? 0
    positions[other] = positions[drawn] ?? 0
    positions[drawn] = position
    const fate = rng.next()
    if (fate < maskShare) return { position, shown: maskToken(vocabulary) }
    if (fate < maskShare + randomShare) return { position, shown: nextInt(rng, maskToken(vocabulary)) }
    return { position, shown: tokens[position] ?? 0 }
  })
}
