/** What neighbours sent a stage and it has not worked on yet. Refuses whatever an honest neighbour would not send. */
import { type Codec, dtypeOf } from '../../../shared/codec/codec.ts'
import { BadMessageError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import type { Shape } from '../../../shared/model/layout.ts'
import { type HostTensor, byteLengthOf, elementCount } from '../../../shared/tensor.ts'
import type { StageAssignment, StagePlace } from './assignment.ts'
import type { Ledger } from './ledger.ts'

/** A micro-batch with the tensor that came for it. */
export interface Arrival {
  readonly microBatch: number
  readonly tensor: HostTensor
}

export interface Activation extends Arrival {
  readonly purpose: 'train' | 'evaluate'
}

/** Who must have sent a message of this type. */
export function requireSender(from: PeerId, expected: PeerId | undefined, type: string): void {
  if (from !== expected)
    throw new BadMessageError(`${type} from ${from}, who is not the neighbour that sends it`)
}

/** What a neighbour's tensor must be; `shape` without the micro-batch axis. */
interface Expected {
  readonly shape: Shape
  readonly codec: Codec
  /** Samples at most. */
  readonly most: number
}

/** The one tensor of a message: [B, ...shape] with B in 1..most, in the codec of its border. */
function requireTensor({ header, tensors }: WireMessage, { shape, codec, most }: Expected): HostTensor {
  const tensor = tensors[0]
  if (tensor === undefined || tensors.length !== 1)
    throw new BadMessageError(`${header.type} with ${tensors.length} tensors instead of one`)
  const samples = tensor.shape[0] ?? 0
  const wanted = [samples, ...shape]
  const dtype = dtypeOf(codec)
  const fits =
    tensor.dtype === dtype &&
    samples >= 1 &&
    samples <= most &&
    tensor.shape.length === wanted.length &&
    tensor.shape.every((extent, axis) => extent === wanted[axis]) &&
    tensor.data.byteLength === byteLengthOf(dtype, elementCount(wanted))
  if (fits) return tensor
  throw new BadMessageError(
    `${header.type} of ${tensor.dtype} [${tensor.shape.join(', ')}] instead of ${dtype} [1..${most}, ${shape.join(', ')}]`,
  )
}

/**
 * Activations and gradients come in micro-batch order (links keep order within a traffic class), so each kind has
 * exactly one next number. At most K wait here: an honest root has no more credits. A message that throws left no trace.
 */
export class Inbox {
  readonly #assignment: StageAssignment
  readonly #place: StagePlace
  readonly #ledger: Ledger
  readonly #gradients: Arrival[] = []
  readonly #activations: Activation[] = []
  #trainReceived = 0
  #gradientsReceived = 0
  #evaluationsWaiting = 0
  #nextEvaluation = 0
  #end: number | undefined

  constructor(assignment: StageAssignment, place: StagePlace, ledger: Ledger) {
    this.#assignment = assignment
    this.#place = place
    this.#ledger = ledger
  }

  /** How many training micro-batches there are in all, once the root has said so. */
  get end(): number | undefined {
    return this.#end
  }

  get nextGradient(): Arrival | undefined {
    return this.#gradients[0]
  }

  get nextActivation(): Activation | undefined {
    return this.#activations[0]
  }

  takeGradient(): void {
    this.#gradients.shift()
  }

  takeActivation(): void {
    if (this.#activations.shift()?.purpose === 'evaluate') this.#evaluationsWaiting -= 1
  }

  /** @throws BadMessageError, and then nothing has changed */
  activation(from: PeerId, message: WireMessage, header: Header<'activation'>): void {
    requireSender(from, this.#place.previous, 'activation')
    if (header.purpose === 'train') this.#trainActivation(message, header.microBatch)
    else this.#evaluateActivation(message, header.microBatch)
  }

  #requireCredit(): void {
    const held = this.#trainReceived - this.#ledger.backwarded + this.#evaluationsWaiting
    if (held >= this.#assignment.inFlight)
      throw new BadMessageError(`activation beyond the ${this.#assignment.inFlight} micro-batches in flight`)
  }

  #expectedInput(most: number, codec: Codec): Expected {
    return { shape: this.#place.inputShape, codec, most }
  }

  #trainActivation(message: WireMessage, microBatch: number): void {
    const { order } = this.#assignment
    if (microBatch !== this.#trainReceived || microBatch >= (this.#end ?? Infinity))
      throw new BadMessageError(`activation of micro-batch ${microBatch} instead of ${this.#trainReceived}`)
    this.#requireCredit()
    const size = order.size(microBatch)
    const tensor = requireTensor(message, this.#expectedInput(size, this.#place.inputCodec))
    if (tensor.shape[0] !== size)
      throw new BadMessageError(`micro-batch ${microBatch} has ${size} samples, not ${tensor.shape[0] ?? 0}`)
    this.#activations.push({ purpose: 'train', microBatch, tensor })
    this.#trainReceived += 1
  }

  #evaluateActivation(message: WireMessage, microBatch: number): void {
    if (microBatch !== this.#nextEvaluation && microBatch !== 0)
      throw new BadMessageError(`validation micro-batch ${microBatch} instead of ${this.#nextEvaluation}`)
    this.#requireCredit()
    const size = this.#assignment.microBatch
    const tensor = requireTensor(message, this.#expectedInput(size, 'fp32'))
    if (microBatch * size + (tensor.shape[0] ?? 0) > this.#assignment.validationSamples)
      throw new BadMessageError(`validation micro-batch ${microBatch} is beyond the data`)
    this.#activations.push({ purpose: 'evaluate', microBatch, tensor })
    this.#evaluationsWaiting += 1
    this.#nextEvaluation = microBatch + 1
  }

  /** @throws BadMessageError, and then nothing has changed */
  gradient(from: PeerId, message: WireMessage, { microBatch }: Header<'gradient'>): void {
    requireSender(from, this.#place.next, 'gradient')
    if (microBatch !== this.#gradientsReceived || microBatch >= this.#ledger.forwarded)
      throw new BadMessageError(`gradient of micro-batch ${microBatch}, which is not the next to return`)
    const size = this.#assignment.order.size(microBatch)
    const { outputShape: shape, outputCodec: codec } = this.#place
    const tensor = requireTensor(message, { shape, codec, most: size })
    if (tensor.shape[0] !== size)
      throw new BadMessageError(`micro-batch ${microBatch} has ${size} samples, not ${tensor.shape[0] ?? 0}`)
    this.#gradients.push({ microBatch, tensor })
    this.#gradientsReceived += 1
  }

  /** @throws BadMessageError, and then nothing has changed */
  endOfStream(from: PeerId, { microBatches }: Header<'end-of-stream'>): void {
    requireSender(from, this.#place.previous, 'end-of-stream')
    if (this.#end !== undefined || microBatches < this.#trainReceived)
      throw new BadMessageError(`end of stream after ${microBatches} micro-batches makes no sense here`)
    this.#end = microBatches
  }
}
