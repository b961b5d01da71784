/** The numbers of a run of layers on their way between two peers, in bounded pieces. */
import { BadMessageError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { LayerRange } from '../../../shared/model/graph.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { floatTensor } from '../../../shared/tensor.ts'
import type { Links, StateVector } from '../ports.ts'

/** 4 MiB of float32: small enough that a heartbeat is not stuck behind it on a slow uplink. */
const pieceElements = 1024 * 1024

export interface TransferTarget {
  readonly to: PeerId
  readonly job: string
  readonly plan: number
  /** Where the cluster of the stage stood in the data when its numbers were read. */
  readonly cursor?: [epoch: number, rows: number] | undefined
}

/** Send the numbers piece by piece, in order. @throws PeerLostError, AbortedError */
export async function sendState(
  links: Links,
  target: TransferTarget,
  state: StateVector,
  signal?: AbortSignal,
): Promise<void> {
  const total = state.values.length
  const [from, to] = state.layers
  const header = {
    type: 'parameters' as const,
    job: target.job,
    plan: target.plan,
    layers: [from, to] as [number, number],
    total,
    ...(target.cursor === undefined ? {} : { cursor: target.cursor }),
  }
  for (let offset = 0; offset === 0 || offset < total; offset += pieceElements) {
    const piece = state.values.subarray(offset, Math.min(total, offset + pieceElements))
    await links.send(target.to, { header: { ...header, offset }, tensors: [floatTensor(piece)] }, signal)
  }
}

/** Gathers pieces of one run of layers of a known length. */
export class StateReceiver {
  readonly state: StateVector
  #received = 0

  /** @param length - elements, from the layout of the layers: what the sender says is not believed */
  constructor(layers: LayerRange, length: number) {
    this.state = { layers, values: new Float32Array(length) }
  }

  /** Elements so far. */
  get received(): number {
    return this.#received
  }

  get complete(): boolean {
    return this.#received === this.state.values.length
  }

  /** @throws BadMessageError when the piece is not the next one of these layers */
  accept({ header, tensors }: WireMessage<'parameters'>): void {
    const values = tensors[0]?.data
    const { layers } = this.state
    const fits =
      values instanceof Float32Array &&
      tensors.length === 1 &&
      header.layers[0] === layers[0] &&
      header.layers[1] === layers[1] &&
      header.total === this.state.values.length &&
      header.offset === this.#received &&
      header.offset + values.length <= header.total
    if (!fits)
      throw new BadMessageError(
        `parameters of layers ${layers.join('-')} came out of order or with a wrong length`,
      )
    this.state.values.set(values, header.offset)
    this.#received += values.length
  }
}
