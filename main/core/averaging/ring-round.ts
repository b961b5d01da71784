/** What one member does in one round: copy, average with the ring, bring the mean back. */
import { AbortedError } from '../../../shared/errors.ts'
import type { StageEngine } from '../ports.ts'
import { type RoundMember, averageRound } from './round.ts'
import { type RingPart, addToRing, readRing, writeRing } from './snapshot.ts'

interface RingRound extends Omit<RoundMember, 'copy'> {
  readonly engine: StageEngine
  readonly parts: readonly RingPart[]
  /** Changes with everything that may change the stage's numbers. */
  readonly stateVersion: () => number
  readonly signal: AbortSignal
  /** Lets others have their turn within long work. */
  readonly rest: () => Promise<void>
}

/**
 * The copy is asked for before this returns, and nothing is written until the mean is whole: a round that rejects has
 * changed nothing. A stage that stood still meanwhile gets the mean itself, one that trained on gets mean − copy added.
 */
export async function runRingRound(round: RingRound): Promise<void> {
  const { engine, parts, signal, stateVersion, rest } = round
  const version = stateVersion()
  const copy = await readRing(engine, parts)
  const mean = await averageRound({ ...round, copy })
  if (signal.aborted) throw new AbortedError('the round was given up')
  if (stateVersion() === version) await writeRing(engine, parts, mean)
  else await addToRing(engine, parts, { mean, copy, rest })
}
