/** What happens to whom and when: drawn from a seed before anything starts, so that a run can be repeated. */
import { createRng, nextInt, permutation, seedFrom, type Rng } from '../../../shared/random.ts'
import { second, type Millis } from '../../../shared/units.ts'

export const faultKinds = ['kill', 'freeze', 'cut', 'slow', 'pause', 'leave', 'join'] as const
export type FaultKind = (typeof faultKinds)[number]

export interface Fault {
  readonly kind: FaultKind
  /** Whom it hits; of `join`, the newcomer. */
  readonly peer: string
  /** After the training began. */
  readonly atMs: Millis
  /** Until it is undone; 0: it stays so. */
  readonly lastsMs: Millis
}

export interface Drawing {
  readonly seed: number
  readonly durationMs: Millis
  readonly peers: number
  /** So many whole PCs are left at all times. */
  readonly depth: number
  readonly kinds: readonly FaultKind[]
  /** Exactly these, spread over the time, instead of random ones. */
  readonly sequence?: readonly FaultKind[] | undefined
}

type Span = readonly [least: Millis, most: Millis]

/** Around the seconds of silence after which a peer counts as lost: both sides of it happen. */
const lasting: Readonly<Record<FaultKind, Span>> = {
  kill: [2 * second, 8 * second],
  freeze: [3 * second, 20 * second],
  cut: [3 * second, 20 * second],
  slow: [8 * second, 20 * second],
  pause: [4 * second, 12 * second],
  leave: [0, 0],
  join: [0, 0],
}

/** Crashes are what a pool at home has most. */
const timesInBag: Partial<Record<FaultKind, number>> = { kill: 2 }
const betweenMs: Span = [8 * second, 20 * second]
const firstAfterMs = 4 * second
/** A fault needs time to show. */
const noneInTheLastMs = 5 * second
/** Who is back is not hit again, nor counted on, for so long. */
const comesRoundMs = 8 * second

export const peerName = (index: number): string => `peer-${index + 1}`

/** In the order of time. The first peer, who hosts, never leaves: that would end the job. */
export function drawFaults(drawing: Drawing): Fault[] {
  const rng = createRng(seedFrom(drawing.seed, 'chaos'))
  const pool = new DrawnPool(drawing)
  const faults: Fault[] = []
  for (const { atMs, kind } of moments(drawing, rng)) {
    const lastsMs = Math.round(between(rng, lasting[kind]))
    const peer = pool.hit({ kind, atMs, lastsMs, free: drawing.sequence !== undefined }, rng)
    if (peer !== undefined) faults.push({ kind, peer, atMs, lastsMs })
  }
  return faults
}

function between(rng: Rng, [least, most]: Span): Millis {
  return least + rng.next() * (most - least)
}

function moments(drawing: Drawing, rng: Rng): { readonly atMs: Millis; readonly kind: FaultKind }[] {
  const { sequence, durationMs, kinds } = drawing
  if (sequence !== undefined) {
    const everyMs = durationMs / (sequence.length + 1)
    return sequence.map((kind, index) => ({ kind, atMs: Math.round((index + 1) * everyMs) }))
  }
  const all = kinds.flatMap((kind) => new Array<FaultKind>(timesInBag[kind] ?? 1).fill(kind))
  const found: { readonly atMs: Millis; readonly kind: FaultKind }[] = []
  let bag: FaultKind[] = []
  for (let atMs = firstAfterMs; atMs < durationMs - noneInTheLastMs; atMs += between(rng, betweenMs)) {
    // Every kind comes about as often: the next is taken from a bag that holds each, until it is empty.
    if (bag.length === 0) bag = [...permutation(rng, all.length)].flatMap((index) => all[index] ?? [])
    const kind = bag.pop()
    if (kind !== undefined) found.push({ atMs: Math.round(atMs), kind })
  }
  return found
}

interface Blow extends Omit<Fault, 'peer'> {
  /** Hit whoever there is, well or not. */
  readonly free: boolean
}

/** Who is in the pool, and from when they are well again. */
class DrawnPool {
  readonly #drawing: Drawing
  readonly #wellFromMs = new Map<string, Millis>()
  #named = 0

  constructor(drawing: Drawing) {
    this.#drawing = drawing
    for (let index = 0; index < drawing.peers; index++) this.#enroll(0)
  }

  #enroll(wellFromMs: Millis): string {
    const name = peerName(this.#named++)
    this.#wellFromMs.set(name, wellFromMs)
    return name
  }

  /** @returns the victim, or undefined when the pool cannot spare one */
  hit({ kind, atMs, lastsMs, free }: Blow, rng: Rng): string | undefined {
    if (kind === 'join') {
      const full = this.#wellFromMs.size > this.#drawing.peers
      return full && !free ? undefined : this.#enroll(atMs + comesRoundMs)
    }
    const names = [...this.#wellFromMs.keys()].filter((name) => kind !== 'leave' || name !== peerName(0))
    const well = names.filter((name) => (this.#wellFromMs.get(name) ?? 0) <= atMs)
    const victim = free ? pick(rng, well.length > 0 ? well : names) : pick(rng, well)
    if (victim === undefined || (!free && !this.#canSpare(atMs))) return undefined
    if (kind === 'leave') this.#wellFromMs.delete(victim)
    else this.#wellFromMs.set(victim, atMs + lastsMs + comesRoundMs)
    return victim
  }

  #canSpare(atMs: Millis): boolean {
    const well = [...this.#wellFromMs.values()].filter((from) => from <= atMs)
    return well.length > this.#drawing.depth
  }
}

function pick(rng: Rng, names: readonly string[]): string | undefined {
  return names[nextInt(rng, Math.max(1, names.length))]
}
