/**
 * Where the numbers of the model are while the pool stands still for a new plan: with the members whose stages have
 * drained, with those who took them over since, and with the host what nobody else has.
 */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Header } from '../../../../shared/messages/wire.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import type { Donor, StateSource } from '../moving/donor.ts'
import { type Held, isSameRun, isWithin } from '../moving/held.ts'
import { type Model, without } from '../moving/parcels.ts'

type DonorList = Header<'assignment'>['state']['donors']

/** Of those who hold the same layers so many are named. */
const mostNamed = 16

interface Holder {
  readonly peer: PeerId
  readonly layers: LayerRange
  /** Its optimizer is behind the others'. */
  readonly isBehind: boolean
}

interface Agreed {
  readonly of: number
  readonly model: Model
  readonly optimizer: boolean
  readonly base?: StateSource
}

export class Stock {
  readonly #donor: Donor
  #holders: readonly Holder[] = []
  #own: readonly Held[] = []
  #base: StateSource | undefined
  /** The plan after which the numbers were agreed on. */
  of = -1
  model: Model = { layouts: [], vectors: 1 }
  optimizer = false
  /** The newest donors are about to be told. */
  isTelling = false
  /** Somebody takes the numbers of a new stage, and it is known where they are. */
  isOpen = false

  constructor(donor: Donor) {
    this.#donor = donor
  }

  /** @param agreed.base - of the host, where it holds the whole model as it was agreed on */
  open({ of, model, optimizer, base }: Agreed): void {
    this.of = of
    this.model = model
    this.optimizer = optimizer
    this.#holders = []
    this.#own = []
    this.#base = base
    this.isOpen = true
    this.#donor.open(of, model)
    this.#donor.offer(of, (layers) => this.find(layers))
  }

  /** The new plan has begun. */
  close(): void {
    this.isOpen = false
    this.#holders = []
    this.#own = []
    this.#base = undefined
    this.#donor.close()
  }

  /** From now on the host has everything. */
  keepAll(base: StateSource): void {
    this.#base = base
    this.#own = []
  }

  /** The host took this over from a member. */
  keep(held: Held): void {
    this.#own = [...this.#own, held]
  }

  add(peer: PeerId, layers: LayerRange, isBehind = false): void {
    this.#holders = [...this.#holders, { peer, layers, isBehind }]
  }

  /** It is gone, and everything that it held with it. */
  forget(peer: PeerId): void {
    this.#holders = this.#holders.filter((holder) => holder.peer !== peer)
  }

  holds(peer: PeerId, layers: LayerRange): boolean {
    return this.#holders.some((holder) => holder.peer === peer && isWithin(layers, holder.layers))
  }

  /** The runs of layers that this peer gives out. */
  heldBy(peer: PeerId): readonly LayerRange[] {
    return this.#holders.filter((holder) => holder.peer === peer).map(({ layers }) => layers)
  }

  isHolder(peer: PeerId): boolean {
    return this.#holders.some((holder) => holder.peer === peer)
  }

  /** What the host itself can give. */
  find(layers: LayerRange): Held | undefined {
    return this.#own.find((held) => isWithin(layers, held.layers)) ?? this.#base?.(layers)
  }

  get hasAll(): boolean {
    return this.#base !== undefined
  }

  /** What the host took over. */
  get own(): readonly Held[] {
    return this.#own
  }

  /** Layers that neither the host nor anybody but these holds. */
  lackingWithout(peers: readonly PeerId[]): readonly LayerRange[] {
    if (this.#base !== undefined) return []
    const held = this.#holders.filter(({ peer }) => !peers.includes(peer)).map(({ layers }) => layers)
    const own = this.#own.map(({ layers }) => layers)
    return without([0, this.model.layouts.length], [...held, ...own])
  }

  /** Whole runs of single members with all of these layers among them, as few as may be. */
  runsFor(wanted: readonly LayerRange[]): readonly { readonly peer: PeerId; readonly layers: LayerRange }[] {
    const runs: Holder[] = []
    let missing = [...wanted]
    for (let [next] = missing; next !== undefined; [next] = missing) {
      const [layer] = next
      const able = this.#holders.filter(({ layers }) => layers[0] <= layer && layers[1] > layer)
      const [best] = able.toSorted(
        (a, b) => Number(a.isBehind) - Number(b.isBehind) || b.layers[1] - a.layers[1],
      )
      if (best === undefined) return runs
      runs.push(best)
      missing = missing.flatMap((run) => without(run, [best.layers]))
    }
    return runs
  }

  /** For those who take their parts. Who is behind is named only where nobody else is. */
  donors(host: PeerId): DonorList {
    const list = this.#own.map(({ layers }): DonorList[number] => ({
      ...{ layers: [layers[0], layers[1]], peers: [host] },
    }))
    const ahead = this.#holders.filter(({ isBehind }) => !isBehind)
    const alone = this.#holders.filter(
      ({ isBehind, layers }) =>
        isBehind &&
        without(
          layers,
          ahead.map((one) => one.layers),
        ).length > 0,
    )
    for (const { peer, layers } of [...ahead, ...alone]) {
      const entry = list.find((one) => isSameRun(one.layers, layers))
      if (entry === undefined) list.push({ layers: [layers[0], layers[1]], peers: [peer] })
      else if (entry.peers.length < mostNamed) entry.peers.push(peer)
    }
    return list
  }
}
