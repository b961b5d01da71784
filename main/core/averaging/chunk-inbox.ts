/** Pieces of chunks that the previous member of a ring sent, checked, until the round takes them. */
import { BadMessageError } from '../../../shared/errors.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { HostTensor } from '../../../shared/tensor.ts'
import type { Arrival } from './ring-steps.ts'
import type { Packet } from './round.ts'
import { allFinite } from './snapshot.ts'

/** One round's pieces. */
interface Tray {
  received: number
  readonly waiting: Packet[]
  taker: PromiseWithResolvers<Packet> | undefined
  failure: Error | undefined
}

/** A round's pieces come in the order of its steps, each once: the links keep order. So at most one round's are ever held. */
export class ChunkInbox {
  readonly #arrivals: readonly Arrival[]
  readonly #trays = new Map<number, Tray>()

  constructor(arrivals: readonly Arrival[]) {
    this.#arrivals = arrivals
  }

  /** @throws BadMessageError, and then nothing has changed */
  put(header: Header<'chunk'>, tensors: readonly HostTensor[]): void {
    const received = this.#trays.get(header.round)?.received ?? 0
    const packet = { weight: header.weight, values: this.#requireValues(header, tensors, received) }
    const tray = this.#tray(header.round)
    tray.received += 1
    if (tray.taker === undefined) tray.waiting.push(packet)
    else tray.taker.resolve(packet)
    tray.taker = undefined
  }

  #requireValues(header: Header<'chunk'>, tensors: readonly HostTensor[], received: number): Float32Array {
    const next = this.#arrivals[received]
    const isNext =
      next?.step.phase === header.phase && next.step.step === header.step && next.offset === header.offset
    if (!isNext) throw new BadMessageError(`chunk of ${header.phase} step ${header.step} out of order`)
    return finiteFloats(tensors, next.piece.length)
  }

  #tray(round: number): Tray {
    const tray = this.#trays.get(round) ?? { received: 0, waiting: [], taker: undefined, failure: undefined }
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

function finiteFloats(tensors: readonly HostTensor[], length: number): Float32Array {
  const data = tensors[0]?.data
  if (tensors.length !== 1 || !(data instanceof Float32Array) || data.length !== length)
    throw new BadMessageError(`a chunk that is not one float32 tensor of ${length} elements`)
  if (!allFinite(data)) throw new BadMessageError('a chunk with a value that is no finite number')
  return data
}
