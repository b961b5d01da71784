/** What one member does in one round: copy, average with the ring, bring the mean back. */
import type { StageEngine } from '../ports.ts'
import { type RoundMember, averageRound } from './round.ts'
import { type RingPart, addToRing, readRing, writeRing } from './snapshot.ts'

interface RingRound extends Omit<RoundMember, 'copy'> {
  readonly engine: StageEngine
  readonly parts: readonly RingPart[]
  /** Changes with everything that may change the stage's numbers. */
  readonly stateVersion: () => number
  /** We hold the mean. Resolves when all members do; rejects when the round is given up. */
  readonly agree: () => Promise<void>
  /** Lets others have their turn within long work. */
  readonly rest: () => Promise<void>
}

/**
 * The copy is asked for before this returns, and nothing is written until all members hold the mean: a round that
 * rejects has changed nothing, here or anywhere. A stage that stood still meanwhile gets the mean itself, one that trained on gets mean − copy added.
 */
export async function runRingRound(round: RingRound): Promise<void> {
  const { engine, parts, agree, stateVersion, rest } = round
  const version = stateVersion()
  const copy = await readRing(engine, parts)
  const mean = await averageRound({ ...round, copy })
  await agree()
  if (stateVersion() === version) await writeRing(engine, parts, mean)
  else await addToRing(engine, parts, { mean, copy, rest })
}
