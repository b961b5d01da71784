/** Pieces of chunks that the previous member of a ring sent, checked, until the round takes them. */
import { BadMessageError } from '../../../shared/errors.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { HostTensor } from '../../../shared/tensor.ts'
import type { Arrival } from './ring-steps.ts'
import type { Packet } from './round.ts'
import { allFinite } from './snapshot.ts'

/** One round's pieces. */
interface Tray {
  readonly coming: Iterator<Arrival, undefined>
  /** The next of them. */
  expected: Arrival | undefined
  readonly waiting: Packet[]
  taker: PromiseWithResolvers<Packet> | undefined
  failure: Error | undefined
}

/** A round's pieces come in the order of its steps, each once: the links keep order. So at most one round's are ever held. */
export class ChunkInbox {
  readonly #arrivals: () => Iterator<Arrival, undefined>
  readonly #trays = new Map<number, Tray>()

  /** @param arrivals - what comes in in a round, in order */
  constructor(arrivals: () => Iterator<Arrival, undefined>) {
    this.#arrivals = arrivals
  }

  /** @throws BadMessageError, and then nothing has changed */
  put(header: Header<'chunk'>, tensors: readonly HostTensor[]): void {
    const tray = this.#trays.get(header.round) ?? this.#newTray()
    const packet = { weight: header.weight, values: requireValues(header, tensors, tray.expected) }
    this.#trays.set(header.round, tray)
    tray.expected = tray.coming.next().value
    if (tray.taker === undefined) tray.waiting.push(packet)
    else tray.taker.resolve(packet)
    tray.taker = undefined
  }

  #newTray(): Tray {
    const coming = this.#arrivals()
    return { coming, expected: coming.next().value, waiting: [], taker: undefined, failure: undefined }
  }

  #tray(round: number): Tray {
    const tray = this.#trays.get(round) ?? this.#newTray()
    this.#trays.set(round, tray)
    return tray
  }

  /** The round's next piece, now or when it comes. Rejects once the round is given up. */
  take(round: number): Promise<Packet> {
    const tray = this.#tray(round)
    if (tray.failure !== undefined) return Promise.reject(tray.failure)
    const packet = tray.waiting.shift()
    if (packet !== undefined) return Promise.resolve(packet)
    tray.taker = Promise.withResolvers()
    return tray.taker.promise
  }

  /** Give a round up. */
  fail(round: number, error: Error): void {
    const tray = this.#tray(round)
    tray.failure = error
    tray.taker?.reject(error)
    tray.taker = undefined
  }

  /** Rounds before this one are over. */
  forgetBefore(round: number): void {
    for (const past of this.#trays.keys()) if (past < round) this.#trays.delete(past)
  }
}

function requireValues(
  header: Header<'chunk'>,
  tensors: readonly HostTensor[],
  next: Arrival | undefined,
): Float32Array {
  const isNext =
    next?.step.phase === header.phase && next.step.step === header.step && next.offset === header.offset
  if (!isNext) throw new BadMessageError(`chunk of ${header.phase} step ${header.step} out of order`)
  return finiteFloats(tensors, next.piece.length)
}

function finiteFloats(tensors: readonly HostTensor[], length: number): Float32Array {
  const data = tensors[0]?.data
  if (tensors.length !== 1 || !(data instanceof Float32Array) || data.length !== length)
    throw new BadMessageError(`a chunk that is not one float32 tensor of ${length} elements`)
  if (!allFinite(data)) throw new BadMessageError('a chunk with a value that is no finite number')
  return data
}
