/**
 * One round of one ring, seen by one member: weighted mean of everyone's copies, by reduce-scatter and all-gather.
 *
 * Nothing waits for a whole step: each step sends on the chunk that the step before received, so a piece leaves as soon
 * as it was added to, while the rest of its chunk still comes in.
 */
import { AbortedError } from '../../../shared/errors.ts'
import { type Chunk, chunkAt, cutIntoPieces } from './chunks.ts'
import { type Arrival, type RingStep, arrivalsOf, firstStep } from './ring-steps.ts'

/** What travels: Σ w·x of the contributions so far and Σ w; in the gather phase the mean. */
export interface Packet {
  readonly weight: number
  readonly values: Float32Array
}

/** A packet on its way to the next member. */
export interface Parcel extends Packet {
  readonly step: RingStep
  /** Of its first element in the step's chunk. */
  readonly offset: number
}

export interface RoundMember {
  /** Of this member in the ring. */
  readonly position: number
  /** C. */
  readonly members: number
  /** This member's copy; not changed. All members' have one length. */
  readonly copy: Float32Array
  /** w ≥ 0: samples trained since its last round. */
  readonly weight: number
  /** Elements of a piece; all members' are alike. */
  readonly pieceElements: number
  /** Called one after the other, in the order of the next member's `receive`. */
  readonly send: (parcel: Parcel) => Promise<void>
  /** The next piece. Its values become this round's: they are added to and sent on. */
  readonly receive: () => Promise<Packet>
}

/**
 * Σ w·x / Σ w over all members; where nobody trained (Σ w = 0) the plain mean. A chunk's owner divides once and everyone
 * keeps its result, so all members return the same bits. Rejects with whatever `send` or `receive` rejects with, and
 * with AbortedError where the copy, or a sum with it, holds what is no finite number.
 */
export async function averageRound(member: RoundMember): Promise<Float32Array> {
  const { members, copy } = member
  if (members === 1) return copy.slice()
  const parcels = createParcels()
  const [mean] = await Promise.all([receiveAll(member, parcels), sendAll(member, parcels)])
  return mean
}

/** Add what comes in to our own, keep the means, and hand everything on but what ends here. */
async function receiveAll(member: RoundMember, parcels: Parcels): Promise<Float32Array> {
  const { copy, receive } = member
  const mean = new Float32Array(copy.length)
  for (const arrival of arrivalsOf({ ...member, length: copy.length })) {
    const packet = taken(member, arrival, await receive())
    const step = arrival.next
    if (arrival.step.phase === 'gather' || step?.phase === 'gather')
      mean.set(packet.values, arrival.piece.offset)
    if (step !== undefined) parcels.put({ ...packet, step, offset: arrival.offset })
  }
  parcels.close()
  return mean
}

/** What becomes of a piece that came in: a larger sum, at its last station the mean, and then it stays as it is. */
function taken(member: RoundMember, { step, piece }: Arrival, incoming: Packet): Packet {
  if (step.phase === 'gather') return incoming
  const own = viewOf(member.copy, piece)
  const weight = combine(incoming, own, member.weight)
  const isLast = step.step === member.members - 2
  if (isLast) divide(incoming.values, weight > 0 ? weight : member.members)
  return { weight, values: incoming.values }
}

/** Our own chunk first, then what was handed on. */
async function sendAll({ send, ...member }: RoundMember, parcels: Parcels): Promise<void> {
  const { position, members, copy, weight, pieceElements } = member
  const step = firstStep(position, members)
  const own = chunkAt(copy.length, members, position)
  for (const piece of cutIntoPieces(own, pieceElements)) {
    const values = viewOf(copy, piece).slice()
    scale(values, weight > 0 ? weight : 1)
    await send({ step, offset: piece.offset - own.offset, weight, values })
  }
  for (let parcel = await parcels.take(); parcel !== undefined; parcel = await parcels.take())
    await send(parcel)
}

interface Parcels {
  put(parcel: Parcel): void
  close(): void
  /** The next one, now or when there is one; undefined after the last. */
  take(): Promise<Parcel | undefined>
}

/** What came in and waits to be sent on. Never more than came in: one round's pieces. */
function createParcels(): Parcels {
  const waiting: (Parcel | undefined)[] = []
  let taker: ((parcel: Parcel | undefined) => void) | undefined
  const put = (parcel: Parcel | undefined) => {
    if (taker === undefined) waiting.push(parcel)
    else taker(parcel)
    taker = undefined
  }
  return {
    put,
    close: () => { put(undefined) }, // prettier-ignore
    take: () =>
      waiting.length > 0
        ? Promise.resolve(waiting.shift())
        : new Promise((resolve) => {
            taker = resolve
          }),
  }
}

const viewOf = (vector: Float32Array, { offset, length }: Chunk): Float32Array =>
  vector.subarray(offset, offset + length)

/** @param zeros - the sum of all values times 0, which is NaN where one is no finite number: a pass over them less */
function requireFinite(zeros: number): void {
  if (zeros !== 0) throw new AbortedError('a parameter of this stage is no finite number any more')
}

/**
 * Add our own numbers to a sum of contributions, in place. A weight of 0 says that none of its contributors trained: the
 * values are then the plain sum of their copies, which counts only as long as no trained copy meets it.
 * @returns the weight of the result
 */
function combine({ values, weight }: Packet, own: Float32Array, ownWeight: number): number {
  if (ownWeight === 0 && weight > 0) return weight
  const factor = ownWeight > 0 ? ownWeight : 1
  const counts = ownWeight === 0 || weight > 0
  let zeros = 0
  for (let index = 0; index < values.length; index++) {
    // Rounded before it is added, as the product that another member sends is.
    const product = Math.fround((own[index] ?? 0) * factor)
    const sum = Math.fround(counts ? (values[index] ?? 0) + product : product)
    values[index] = sum
    zeros += sum * 0
  }
  requireFinite(zeros)
  return weight + ownWeight
}

function scale(values: Float32Array, factor: number): void {
  let zeros = 0
  for (let index = 0; index < values.length; index++) {
    const product = Math.fround((values[index] ?? 0) * factor)
    values[index] = product
    zeros += product * 0
  }
  requireFinite(zeros)
}

function divide(values: Float32Array, divisor: number): void {
  let zeros = 0
  for (let index = 0; index < values.length; index++) {
    const quotient = Math.fround((values[index] ?? 0) / divisor)
    values[index] = quotient
    zeros += quotient * 0
  }
  requireFinite(zeros)
}
