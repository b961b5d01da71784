/**
 * Gives the numbers that the pool agreed on at its last stop to whoever needs them. A few at a time: the others wait, so
 * that those who are served are done soon and can give them on.
 */
import type { PeerId } from '../../../../shared/ids.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { floatTensor } from '../../../../shared/tensor.ts'
import type { Header } from '../../../../shared/messages/wire.ts'
import type { Clock, Links } from '../../ports.ts'
import { Checksum, checksumOf } from './checksum.ts'
import { type Held, isSameRun, lengthOf, readPortion } from './held.ts'
import { type Model, pieceLength } from './parcels.ts'

/** Upload slots: more would share one uplink only to end later. */
const slots = 4
/** Of one peer; it asks for two parcels at a time. */
const mostOfPeer = 4
/** A pool of a thousand, all of whom want the same. */
const mostWaiting = 4096
/** Elements between two rests of a checksum: some milliseconds. */
const restEvery = 4_000_000

/** The numbers of a run of layers, if they are here. */
export type StateSource = (layers: LayerRange) => Held | undefined

interface Request {
  readonly from: PeerId
  header: Header<'state-request'>
}

interface DonorPorts {
  readonly links: Links
  readonly clock: Clock
}

const isSame = (one: Request, from: PeerId, { of, layers, to }: Header<'state-request'>) =>
  one.from === from && one.header.of === of && isSameRun(one.header.layers, layers) && one.header.to === to

export class Donor {
  readonly #ports: DonorPorts
  readonly #job: string
  #model: Model = { layouts: [], vectors: 1 }
  #of = -1
  #sources: StateSource[] = []
  /** Whatever this PC holds of them is offered. */
  #settled = true
  #wholes = new Map<string, Promise<string>>()
  #waiting: Request[] = []
  readonly #served = new Set<Request>()

  constructor(ports: DonorPorts, job: string) {
    this.#ports = ports
    this.#job = job
  }

  /** From now on the numbers after plan `of` are given, as soon as they are offered; older ones no more. */
  open(of: number, model: Model): void {
    if (of <= this.#of) return
    this.#of = of
    this.#model = model
    this.#clear()
    this.#settled = false
  }

  offer(of: number, source: StateSource): void {
    if (of !== this.#of) return
    this.#sources.push(source)
    this.#pump()
  }

  /** What is not offered by now is not here. */
  settle(of: number): void {
    if (of !== this.#of) return
    this.#settled = true
    this.#pump()
  }

  /** Nobody needs them any more. */
  close(): void {
    this.#clear()
    this.#settled = true
    this.#pump()
  }

  #clear(): void {
    this.#sources = []
    this.#wholes = new Map()
  }

  lost(peer: PeerId): void {
    this.#waiting = this.#waiting.filter(({ from }) => from !== peer)
  }

  /** Members only. */
  deliver(from: PeerId, header: Header<'state-request'>): void {
    const asked = [...this.#waiting, ...this.#served].filter((request) => request.from === from)
    const same = asked.find((request) => isSame(request, from, header))
    // It waited long, or for pieces that were lost: where it stands now is where it goes on.
    if (same !== undefined && this.#waiting.includes(same)) same.header = header
    if (same !== undefined || asked.length >= mostOfPeer || this.#waiting.length >= mostWaiting) return
    this.#waiting.push({ from, header })
    this.#pump()
  }

  /** Those first that came first, of those that can be answered. */
  #pump(): void {
    for (const request of [...this.#waiting]) {
      if (this.#served.size >= slots) return
      const held = this.#find(request.header)
      if (held === undefined && !this.#isRefused(request.header)) continue
      this.#waiting = this.#waiting.filter((one) => one !== request)
      this.#served.add(request)
      const answer = held === undefined ? this.#refuse(request) : this.#serve(request, held)
      // Whoever is gone asks nobody any more; another way was found by whoever cannot be reached.
      void answer
        .catch(() => undefined)
        .then(() => {
          this.#served.delete(request)
          this.#pump()
        })
    }
  }

  /** A request of a stop that we have not heard of yet waits; so does one for what is still read. */
  #isRefused({ of, layers, from, to }: Header<'state-request'>): boolean {
    if (of !== this.#of) return of < this.#of
    return this.#settled || !this.#isOfModel(layers, from, to)
  }

  #isOfModel(layers: LayerRange, from: number, to: number): boolean {
    const { layouts } = this.#model
    return (
      layers[0] < layers[1] && layers[1] <= layouts.length && from < to && to <= lengthOf(layouts, layers)
    )
  }

  #find({ of, layers, from, to }: Header<'state-request'>): Held | undefined {
    if (of !== this.#of || !this.#isOfModel(layers, from, to)) return undefined
    for (const source of this.#sources) {
      const held = source(layers)
      if (held !== undefined) return held
    }
    return undefined
  }

  async #refuse({ from, header: { of, layers } }: Request): Promise<void> {
    const header = { type: 'state-refused' as const, job: this.#job, plan: this.#of, of, layers }
    await this.#ports.links.send(from, { header: { ...header, refusal: 'not-held' }, tensors: [] })
  }

  async #serve({ from: to, header }: Request, held: Held): Promise<void> {
    const { of, layers } = header
    const { layouts } = this.#model
    const step = pieceLength(this.#model)
    const whole = await this.#wholeOf(layers, held)
    for (let offset = header.from; offset < header.to && of === this.#of; offset += step) {
      const portion = { layers, from: offset, to: Math.min(header.to, offset + step) }
      const values = readPortion(layouts, held, portion)
      const piece = { type: 'state-piece' as const, job: this.#job, plan: header.plan, of, layers, offset }
      await this.#ports.links.send(to, {
        header: { ...piece, checksum: checksumOf(values), whole },
        tensors: [floatTensor(values)],
      })
    }
  }

  #wholeOf(layers: LayerRange, held: Held): Promise<string> {
    const name = layers.join()
    const whole = this.#wholes.get(name) ?? wholeOf(this.#ports.clock, this.#model, { layers, held })
    this.#wholes.set(name, whole)
    return whole
  }
}

/** Of all weights of some layers, with rests for the network. */
export async function wholeOf(
  clock: Clock,
  { layouts }: Model,
  { layers, held }: { readonly layers: LayerRange; readonly held: Held },
): Promise<string> {
  const checksum = new Checksum()
  const weights = { ...held, vectors: held.vectors.slice(0, 1) }
  const length = lengthOf(layouts, layers)
  for (let from = 0; from < length; from += restEvery) {
    const to = Math.min(length, from + restEvery)
    checksum.add(readPortion(layouts, weights, { layers, from, to }))
    if (to < length) await clock.sleep(0)
  }
  return checksum.text
}
