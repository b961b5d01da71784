/** Who sends which chunk at which step of a ring all-reduce. */
import { type Chunk, cutIntoPieces } from './chunks.ts'

/** One step of one member: send a chunk to the next member, receive another from the previous one. */
export interface RingStep {
  readonly phase: 'reduce' | 'gather'
  /** 0..C−2 within its phase. */
  readonly step: number
  /** Numbers of chunks. */
  readonly sends: number
  readonly receives: number
}

/**
 * The 2(C−1) steps of member p. Reduce step r: send chunk p−r, receive p−r−1 and add it. After them p holds the whole
 * sum of chunk p+1: its owner. Gather step r: send chunk p+1−r, receive p−r and keep it. All modulo C; none for C = 1.
 */
export function ringSteps(position: number, members: number): RingStep[] {
  const wrap = (chunk: number) => ((chunk % members) + members) % members
  const steps = Array.from({ length: members - 1 }, (_, step) => step)
  return [
    ...steps.map((step): RingStep => ({
      phase: 'reduce',
      step,
      sends: wrap(position - step),
      receives: wrap(position - step - 1),
    })),
    ...steps.map((step): RingStep => ({
      phase: 'gather',
      step,
      sends: wrap(position + 1 - step),
      receives: wrap(position - step),
    })),
  ]
}

/** What comes in next in a round: a piece of the chunk that a step receives. */
export interface Arrival {
  readonly step: RingStep
  readonly piece: Chunk
  /** Of its first element in the chunk. */
  readonly offset: number
}

/** Everything that a member receives in one round, in order. */
export function arrivalsOf(
  steps: readonly RingStep[],
  chunks: readonly Chunk[],
  pieceElements: number,
): Arrival[] {
  return steps.flatMap((step) => {
    const chunk = chunks[step.receives] ?? { offset: 0, length: 0 }
    return cutIntoPieces(chunk, pieceElements).map((piece) => ({
      ...{ step, piece },
      offset: piece.offset - chunk.offset,
    }))
  })
}

/** Elements that a member sends in one round: 2(C−1)/C of the vector, exactly so when C divides its length. */
export function elementsSent(steps: readonly RingStep[], chunks: readonly Chunk[]): number {
  return steps.reduce((sum, { sends }) => sum + (chunks[sends]?.length ?? 0), 0)
}
