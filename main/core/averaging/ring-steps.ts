/** Who sends which chunk at which step of a ring all-reduce. */
import { type Chunk, chunkAt } from './chunks.ts'

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
  return Array.from({ length: 2 * (members - 1) }, (_, index) => stepAt(position, members, index))
}

/** A member's own chunk goes first. */
export const firstStep = (position: number, members: number): RingStep => stepAt(position, members, 0)

function stepAt(position: number, members: number, index: number): RingStep {
  const wrap = (chunk: number) => ((chunk % members) + members) % members
  const isReduce = index < members - 1
  const step = isReduce ? index : index - (members - 1)
  const sends = wrap(isReduce ? position - step : position + 1 - step)
  return { phase: isReduce ? 'reduce' : 'gather', step, sends, receives: wrap(sends - 1) }
}

/** What comes in next in a round: a piece of the chunk that a step receives. */
export interface Arrival {
  readonly step: RingStep
  /** What is sent on in it, once it came; undefined where its way ends here. */
  readonly next: RingStep | undefined
  readonly piece: Chunk
  /** Of its first element in the chunk. */
  readonly offset: number
}

export interface RingPlace {
  readonly position: number
  readonly members: number
  /** Elements of the ring's vector. */
  readonly length: number
  readonly pieceElements: number
}

/**
 * Everything that a member receives in one round, in order; pieces as `cutIntoPieces` has them. One by one: in a ring of
 * hundreds each member has hundreds of steps.
 */
export function* arrivalsOf({ position, members, length, pieceElements }: RingPlace): Generator<Arrival> {
  const last = 2 * (members - 1)
  let next = last > 0 ? stepAt(position, members, 0) : undefined
  for (let index = 1; next !== undefined; index++) {
    const step: RingStep = next
    next = index < last ? stepAt(position, members, index) : undefined
    const chunk = chunkAt(length, members, step.receives)
    let offset = 0
    do {
      const piece = { offset: chunk.offset + offset, length: Math.min(pieceElements, chunk.length - offset) }
      yield { step, next, piece, offset }
      offset += pieceElements
    } while (offset < chunk.length)
  }
}

/** Elements that a member sends in one round: 2(C−1)/C of the vector, exactly so when C divides its length. */
export function elementsSent(steps: readonly RingStep[], chunks: readonly Chunk[]): number {
  return steps.reduce((sum, { sends }) => sum + (chunks[sends]?.length ?? 0), 0)
}
