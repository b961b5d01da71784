/** A few peers on fake links who hold or want the numbers of one model. */
import { Donor } from '../../../../main/core/job/moving/donor.ts'
import { type DonorList, StateFetch } from '../../../../main/core/job/moving/fetch.ts'
import {
  type Held,
  heldOf,
  lengthOf,
  readPortion,
  wholePortion,
} from '../../../../main/core/job/moving/held.ts'
import type { Model } from '../../../../main/core/job/moving/parcels.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { modelGraph } from '../../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../../shared/model/layout.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { createRng } from '../../../../shared/random.ts'
import { createVirtualClock } from '../../../fakes/clock.ts'
import { createFakeNetwork, type FakeNetworkSettings } from '../../../fakes/links.ts'

export const job = 'a'.repeat(64)
export const of = 7

/** Dense layers of width², each with running numbers after it; a layer without any between them. */
export function modelOf(count: number, width: number): Model {
  const layers = Array.from({ length: count }, (_, index) => [
    { type: 'dense', name: `dense-${index}`, units: width },
    { type: 'batch-norm', name: `norm-${index}` },
    { type: 'relu', name: `relu-${index}` },
  ])
  const graph = modelGraph.parse({
    format: 'rookery-model/1',
    name: 'wide',
    task: 'classify',
    input: { type: 'values', shape: [width] },
    layers: [...layers.flat(), { type: 'dense', name: 'head', units: 2 }],
    loss: { type: 'cross-entropy' },
  })
  return { layouts: layoutOfGraph(graph), vectors: 3 }
}

export const wholeRun = ({ layouts }: Model): LayerRange => [0, layouts.length]

/** Numbers of a run of layers, all unlike. */
export function numbersOf(model: Model, layers: LayerRange, seed = 1): Held {
  const rng = createRng(seed)
  const values = Float32Array.from({ length: model.vectors * lengthOf(model.layouts, layers) }, () =>
    rng.next(),
  )
  return heldOf({ layers, values }, model.vectors)
}

export const emptyRun = (model: Model, layers: LayerRange): Held =>
  heldOf({ layers, values: new Float32Array(model.vectors * lengthOf(model.layouts, layers)) }, model.vectors)

/** Bytes of some layers with everything the optimizer knows of them. */
export const bytesOf = (model: Model, layers: LayerRange): number =>
  4 * model.vectors * lengthOf(model.layouts, layers)

export const allOf = ({ layouts }: Model, held: Held, layers: LayerRange): Float32Array =>
  readPortion(layouts, held, wholePortion(layouts, layers))

export function createPeers(model: Model, settings: Partial<FakeNetworkSettings> = {}) {
  const clock = createVirtualClock()
  const sent: { from: string; to: string; message: WireMessage }[] = []
  const network = createFakeNetwork({
    ...{ clock, delayMs: [1, 5], window: 2 },
    ...settings,
    tap(from, to, message) {
      sent.push({ from, to, message })
      settings.tap?.(from, to, message)
    },
  })
  const signal = new AbortController().signal

  /** A peer that gives what it holds. */
  function donor(name: string, held?: Held): Donor {
    const links = network.linksOf(name)
    const one = new Donor({ links, clock }, job)
    one.open(of, model)
    if (held !== undefined) one.offer(of, (run) => (isIn(run, held.layers) ? held : undefined))
    one.settle(of)
    links.onMessage(({ peer }, { header }) => {
      if (header.type === 'state-request') one.deliver(peer, header)
    })
    links.onLost((peer) => {
      one.lost(peer)
    })
    return one
  }

  function taker(name: string, wanted: readonly LayerRange[], donors: DonorList, into: Held): StateFetch {
    const links = network.linksOf(name)
    const request = { job, of, plan: 8, model, wanted, donors, host: 'host', into, signal }
    const fetch = new StateFetch({ links, clock }, request)
    links.onMessage(({ peer }, { header, tensors }) => {
      if (header.type === 'state-piece') fetch.piece(peer, { header, tensors })
      if (header.type === 'state-refused') fetch.refused(peer, header)
    })
    links.onLost((peer) => {
      fetch.lost(peer)
    })
    return fetch
  }

  return { clock, network, sent, donor, taker }
}

const isIn = ([from, to]: LayerRange, [least, most]: LayerRange) => from >= least && to <= most
