/** One round of one ring, seen by one member: weighted mean of everyone's copies, by reduce-scatter and all-gather. */
import { InvariantError } from '../../../shared/errors.ts'
import { type Chunk, cutIntoChunks } from './chunks.ts'
import { type RingStep, ownedChunk, ringSteps } from './ring-steps.ts'

/** What travels at a step: Σ w·x of the contributions so far and Σ w; in the gather phase the mean. */
export interface Packet {
  readonly weight: number
  readonly values: Float32Array
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
  readonly send: (step: RingStep, packet: Packet) => Promise<void>
  readonly receive: (step: RingStep) => Promise<Packet>
}

/**
 * Σ w·x / Σ w over all members; where nobody trained (Σ w = 0) the plain mean. A chunk's owner divides once and everyone
 * keeps its result, so all members return the same bits. Rejects with whatever `send` or `receive` rejects with.
 */
export async function averageRound(member: RoundMember): Promise<Float32Array> {
  const { position, members, copy } = member
  if (members === 1) return copy.slice()
  const sums = weighted(copy, member.weight)
  const chunks = cutIntoChunks(copy.length, members)
  const weights = chunks.map(() => member.weight)
  for (const step of ringSteps(position, members)) {
    if (step.phase === 'gather' && step.step === 0) divide(sums, chunks, weights, position)
    const outgoing = viewOf(sums, chunks, step.sends).slice()
    const [incoming] = await Promise.all([
      member.receive(step),
      member.send(step, { weight: weights[step.sends] ?? 0, values: outgoing }),
    ])
    const target = viewOf(sums, chunks, step.receives)
    const own = weights[step.receives] ?? 0
    if (step.phase === 'reduce') weights[step.receives] = combine(target, own, incoming)
    else target.set(incoming.values)
  }
  return sums
}

function viewOf(vector: Float32Array, chunks: readonly Chunk[], index: number): Float32Array {
  const chunk = chunks[index]
  if (chunk === undefined) throw new InvariantError(`a ring step names chunk ${index}`)
  return vector.subarray(chunk.offset, chunk.offset + chunk.length)
}

function weighted(copy: Float32Array, weight: number): Float32Array {
  const sums = copy.slice()
  if (weight > 0) for (let index = 0; index < sums.length; index++) sums[index] = (sums[index] ?? 0) * weight
  return sums
}

/**
 * Add one sum of contributions to another, in place. A weight of 0 says that none of its contributors trained: the
 * values are then the plain sum of their copies, which counts only as long as no trained copy meets it.
 * @returns the weight of the result
 */
function combine(target: Float32Array, own: number, incoming: Packet): number {
  if (own > 0 && incoming.weight === 0) return own
  if (own === 0 && incoming.weight > 0) target.set(incoming.values)
  else
    for (let index = 0; index < target.length; index++)
      target[index] = (target[index] ?? 0) + (incoming.values[index] ?? 0)
  return own + incoming.weight
}

function divide(
  sums: Float32Array,
  chunks: readonly Chunk[],
  weights: readonly number[],
  position: number,
): void {
  const owned = ownedChunk(position, chunks.length)
  const total = weights[owned] ?? 0
  const divisor = total > 0 ? total : chunks.length
  const mean = viewOf(sums, chunks, owned)
  for (let index = 0; index < mean.length; index++) mean[index] = (mean[index] ?? 0) / divisor
}
