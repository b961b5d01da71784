/**
 * Brings the numbers of some layers here, parcel by parcel, from several donors side by side. A parcel whose donor is gone
 * or silent goes on with another where it stood.
 */
import { BadMessageError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../../shared/messages/wire.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { type Millis, second } from '../../../../shared/units.ts'
import type { Clock, Links } from '../../ports.ts'
import { checksumOf } from './checksum.ts'
import { wholeOf } from './donor.ts'
import { type Held, isSameRun, isWithin, lengthOf, writePortion } from './held.ts'
import { type Model, cutAt, parcelsOf, pieceLength } from './parcels.ts'

/** Parcels asked of one donor at a time: the next is under way before the last piece of the one before has come. */
const askedAtOnce = 2
/** A mebibyte by a quarter of an uplink of 1 Mbit/s takes 34 s. */
const silentWithinMs = 60 * second
const lookEveryMs = 5 * second
/** Parcels whose weights were not what their donors said, until this PC gives up. */
const mostSpoiled = 5

export type DonorList = Header<'assignment'>['state']['donors']

export interface StateFetchRequest {
  readonly job: string
  /** The plan after which the numbers were agreed on. */
  readonly of: number
  /** The one that they are fetched for. */
  readonly plan: number
  readonly model: Model
  readonly wanted: readonly LayerRange[]
  readonly donors: DonorList
  /** Asked for what no donor is left for. */
  readonly host: PeerId
  /** Holds the wanted layers, to be filled. */
  readonly into: Held
  readonly signal: AbortSignal
}

interface Parcel {
  readonly layers: LayerRange
  readonly length: number
  /** Elements of each vector that are here. */
  received: number
  asked: PeerId | undefined
  /** When it was asked for, or its last piece came. */
  heardMs: Millis
  /** Who ever was asked: nobody else's piece is taken. */
  readonly requested: Set<PeerId>
  /** Who gave some of it, and what they said of its weights. */
  readonly wholes: Map<PeerId, string>
  /** Who could not give it, or gave what does not hold. */
  readonly passed: Set<PeerId>
  checking: boolean
}

export class StateFetch {
  readonly #ports: { readonly links: Links; readonly clock: Clock }
  readonly #request: StateFetchRequest
  #donors: DonorList
  #open: Parcel[]
  readonly #whole: LayerRange[] = []
  readonly #failing = new Set<PeerId>()
  readonly #done = Promise.withResolvers<undefined>()
  readonly #over = new AbortController()
  #spoiled = 0
  /** Every wanted number is here and as its donors have it. @throws BadMessageError, AbortedError */
  readonly done: Promise<undefined>

  constructor(ports: { readonly links: Links; readonly clock: Clock }, request: StateFetchRequest) {
    const { model, wanted, donors, signal } = request
    this.#ports = ports
    this.#request = request
    this.#donors = donors
    this.#open = this.#parcels(cutAt(parcelsOf(model, wanted), boundsOf(donors)))
    this.done = this.#done.promise.finally(() => {
      this.#over.abort()
    })
    this.done.catch(() => undefined) // whoever waits for it hears of it
    void this.#look(AbortSignal.any([signal, this.#over.signal])).catch(this.#done.reject)
    this.#ask()
  }

  #parcels(runs: readonly LayerRange[]): Parcel[] {
    const { layouts } = this.#request.model
    return runs
      .map((layers) => ({ layers, length: lengthOf(layouts, layers) }))
      .filter(({ length }) => length > 0)
      .map((run) => ({
        ...{ ...run, received: 0, heardMs: 0, checking: false },
        ...{ asked: undefined, requested: new Set(), wholes: new Map(), passed: new Set() },
      }))
  }

  /** Layers that are here and checked. */
  get whole(): readonly LayerRange[] {
    return this.#whole
  }

  /** The host knows better now. A parcel that nobody holds as a whole any more is cut. */
  update(donors: DonorList): void {
    this.#donors = donors
    const bounds = boundsOf(donors)
    this.#open = this.#open.flatMap((parcel) => {
      const pieces = this.#isHeld(parcel) || parcel.checking ? [] : cutAt([parcel.layers], bounds)
      return pieces.length > 1 ? this.#parcels(pieces) : [parcel]
    })
    for (const { passed } of this.#open) passed.clear()
    this.#ask()
  }

  #isHeld({ layers }: Parcel): boolean {
    return this.#donors.some((entry) => isWithin(layers, entry.layers))
  }

  lost(peer: PeerId): void {
    for (const parcel of this.#open) this.#passOver(parcel, peer)
  }

  refused(from: PeerId, { of, layers }: Header<'state-refused'>): void {
    const parcel = this.#parcelOf(of, layers)
    if (parcel !== undefined) this.#passOver(parcel, from)
  }

  /** @throws BadMessageError for a piece that is none */
  piece(from: PeerId, message: WireMessage<'state-piece'>): void {
    const { of, layers } = message.header
    const parcel = this.#parcelOf(of, layers)
    if (parcel !== undefined) this.#take(parcel, from, message)
  }

  /** The one that it is for, if that is not whole already. */
  #parcelOf(of: number, layers: LayerRange): Parcel | undefined {
    if (of !== this.#request.of) return undefined
    return this.#open.find((one) => isSameRun(one.layers, layers) && !one.checking)
  }

  /** It cannot give this parcel, or not as it should. */
  #passOver(parcel: Parcel, peer: PeerId): void {
    if (parcel.asked !== peer) return
    parcel.passed.add(peer)
    parcel.asked = undefined
    this.#ask()
  }

  #take(parcel: Parcel, from: PeerId, { header, tensors }: WireMessage<'state-piece'>): void {
    const { model, into } = this.#request
    // It came twice, or from one who was given up and is behind.
    if (!parcel.requested.has(from) || header.offset !== parcel.received) return
    const values = tensors[0]?.data
    const count = Math.min(pieceLength(model), parcel.length - parcel.received)
    const fits =
      tensors.length === 1 && values instanceof Float32Array && values.length === count * model.vectors
    if (!fits || checksumOf(values) !== header.checksum) {
      this.#passOver(parcel, from)
      throw new BadMessageError(`a piece of layers ${header.layers.join('-')} from ${from} was damaged`)
    }
    const portion = { layers: parcel.layers, from: header.offset, to: header.offset + count }
    writePortion(model.layouts, into, { portion, values })
    parcel.received += count
    parcel.wholes.set(from, header.whole)
    parcel.heardMs = this.#ports.clock.now()
    this.#failing.delete(from)
    if (parcel.received < parcel.length) return
    parcel.checking = true
    parcel.asked = undefined
    this.#check(parcel).catch(this.#done.reject)
    this.#ask()
  }

  async #check(parcel: Parcel): Promise<void> {
    const { model, into } = this.#request
    const whole = await wholeOf(this.#ports.clock, model, { layers: parcel.layers, held: into })
    if ([...parcel.wholes.values()].every((said) => said === whole)) {
      this.#whole.push(parcel.layers)
      this.#open = this.#open.filter((one) => one !== parcel)
    } else this.#spoil(parcel)
    this.#ask()
  }

  /** Once more, from somebody else if there is one. */
  #spoil(parcel: Parcel): void {
    this.#spoiled++
    const who = [...parcel.wholes.keys()]
    if (this.#spoiled > mostSpoiled)
      throw new BadMessageError(`${who.join(', ')} sent other numbers than they said`)
    for (const peer of who) parcel.passed.add(peer)
    parcel.wholes.clear()
    parcel.received = 0
    parcel.checking = false
  }

  /** Ask for whatever nobody was asked for, as far as the donors have time. */
  #ask(): void {
    if (this.#open.length === 0) this.#done.resolve(undefined)
    for (const parcel of this.#open) {
      if (parcel.asked !== undefined || parcel.checking) continue
      const donor = this.#donorFor(parcel)
      if (donor !== undefined) this.#askFor(parcel, donor)
    }
  }

  /** The one with the least to do, of those that can be reached; the host if nobody else is left. */
  #donorFor({ layers, passed }: Parcel): PeerId | undefined {
    const { host } = this.#request
    const { self } = this.#ports.links
    const named = this.#donors.filter((entry) => isWithin(layers, entry.layers)).flatMap(({ peers }) => peers)
    const donors = turned([...new Set(named)], self).filter((peer) => peer !== self && !passed.has(peer))
    const sound = donors.filter((peer) => !this.#failing.has(peer))
    const able = sound.length > 0 ? sound : donors
    const asked = (peer: PeerId) => this.#open.filter((parcel) => parcel.asked === peer).length
    const [free] = (able.length > 0 ? able : [host].filter((peer) => !passed.has(peer)))
      .filter((peer) => asked(peer) < askedAtOnce)
      .sort((one, other) => asked(one) - asked(other))
    return free
  }

  #askFor(parcel: Parcel, donor: PeerId): void {
    const { job, plan, of, signal } = this.#request
    parcel.asked = donor
    parcel.requested.add(donor)
    parcel.heardMs = this.#ports.clock.now()
    const { layers, received: from, length: to } = parcel
    const run: [number, number] = [layers[0], layers[1]]
    const header = { type: 'state-request' as const, job, plan, of, layers: run, from, to }
    this.#ports.links.send(donor, { header, tensors: [] }, signal).catch(() => {
      this.#passOver(parcel, donor)
    })
  }

  /** Who is silent is passed over for others; who was passed over is asked again where nobody is left. */
  async #look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports
    for (;;) {
      await clock.sleep(lookEveryMs, signal)
      for (const parcel of this.#open) {
        if (parcel.checking) continue
        if (parcel.asked === undefined) parcel.passed.clear()
        else if (clock.now() - parcel.heardMs >= silentWithinMs) {
          this.#failing.add(parcel.asked)
          parcel.asked = undefined
        }
      }
      this.#ask()
    }
  }
}

const boundsOf = (donors: DonorList): readonly number[] => donors.flatMap(({ layers }) => layers)

/** So that those who want the same do not all begin with the same donor. */
function turned(donors: readonly PeerId[], self: PeerId): readonly PeerId[] {
  const sum = Array.from(self, (letter) => letter.charCodeAt(0)).reduce((total, code) => total + code, 0)
  const at = donors.length === 0 ? 0 : sum % donors.length
  return [...donors.slice(at), ...donors.slice(0, at)]
}
