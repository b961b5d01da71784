/**
 * At a stop: where the training goes on from. The numbers stay where they are, with the members; the host takes over only
 * what nobody else would have any more.
 */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { layoutOfGraph } from '../../../../shared/model/layout.ts'
import { second } from '../../../../shared/units.ts'
import { initialState } from '../../model/initial-state.ts'
import { momentsOf } from '../../model/profile.ts'
import { Pace } from '../forecast.ts'
import { type Checkpoint, untrained } from '../checkpoint.ts'
import type { StateSource } from '../moving/donor.ts'
import { type Held, heldOf, lengthOf, readPortion, wholePortion, writePortion } from '../moving/held.ts'
import { type Model, without } from '../moving/parcels.ts'
import { planOf, positionOf, withoutActive } from '../plan-in-force.ts'
import { everTrained, handingOver, trainedOf } from './books.ts'
import { collectRuns } from './collect.ts'
import type { HostState } from './host-state.ts'
import { keepRun } from './run-keeping.ts'

/** Runs of first weights that are kept: those of all upload slots, twice. */
const mostDrawn = 8
/** Much less than a parcel takes on a home uplink. */
const tellAfterMs = second / 2

/** The training goes on from where the clusters are that drained, or else from the newest that was kept. */
export async function takeStock(host: HostState, signal: AbortSignal): Promise<void> {
  const made = everTrained(host)
  const clusters = handingOver(host)
  if (clusters.length > 0) standOn(host, clusters, made)
  else goBack(host, made)
  // A validation that is under way never answers.
  if (host.validation !== undefined) host.validation = { ...host.validation, cluster: -1 }
  host.roll.closeBooks()
  host.pace = new Pace()
  host.held.clear()
  host.woken.clear()
  host.late.clear()
  host.plan = withoutActive(planOf(host))
  await takeOverFromLeavers(host, signal)
}

function standOn(host: HostState, clusters: readonly number[], made: number): void {
  const [first = 0] = clusters
  const trained = trainedOf(host, first)
  const lost = Math.max(0, made - trained.samples)
  const more = lost - host.from.lost
  if (more > 0) host.log.say(`${more} samples are lost with those who are gone`, 'warn')
  host.from = { ...trained, lost }
  host.stock.open({ of: host.planNumber, model: modelOf(host, true), optimizer: true })
  for (const cluster of clusters)
    for (const { peer, layers } of planOf(host).layout.clusters[cluster]?.stages ?? [])
      host.stock.add(peer, layers, host.woken.has(cluster))
}

/** @param made - samples that were ever trained */
function goBack(host: HostState, made: number): void {
  const kept = host.checkpoint?.trained ?? untrained
  const lost = Math.max(0, made - kept.samples)
  host.log.say(
    `the training goes back to update ${kept.updates}, the newest that was kept; ${lost - host.from.lost} samples are lost`,
    'warn',
  )
  host.from = { ...kept, lost }
  host.cutCurves(kept.updates)
  host.validation = undefined
  standOnOwn(host)
}

/**
 * While everyone stood still somebody is gone who alone held a part: what was kept before counts. It takes the number of a
 * plan, as a stop does, before the next plan takes its own: numbers of another stop must not pass for these.
 */
export function goBackIfLacking(host: HostState): void {
  if (!isLacking(host)) return
  host.planNumber++
  goBack(host, host.from.samples + host.from.lost)
}

export const isLacking = ({ stock }: HostState): boolean => stock.lackingWithout([]).length > 0

/** What the host has itself: the newest that was kept, or the first weights. */
export function standOnOwn(host: HostState): void {
  const { checkpoint, from } = host
  const kept = from.updates > 0 ? checkpoint : undefined
  const optimizer = kept?.vectors.length === vectorsOf(host, true)
  const base = kept === undefined ? firstWeights(host) : wholeOf(kept, vectorsOf(host, optimizer))
  host.stock.open({ of: host.planNumber, model: modelOf(host, optimizer), optimizer, base })
}

function vectorsOf({ hosted }: HostState, optimizer: boolean): number {
  return optimizer ? 1 + momentsOf(hosted.spec.recipe.optimizer) : 1
}

const modelOf = (host: HostState, optimizer: boolean): Model => ({
  layouts: layoutOfGraph(host.hosted.spec.graph),
  vectors: vectorsOf(host, optimizer),
})

function wholeOf({ vectors }: Checkpoint, count: number): StateSource {
  const layers: LayerRange = vectors[0]?.layers ?? [0, 0]
  const held = { layers, vectors: vectors.slice(0, count).map(({ values }) => values) }
  return () => held
}

/** Of the model to continue from, or drawn from the seed. */
function firstWeights(host: HostState): StateSource {
  const { continueFrom, spec } = host.hosted
  const { graph, seed } = spec
  if (continueFrom !== undefined) {
    if (JSON.stringify(continueFrom.spec.graph.layers) !== JSON.stringify(graph.layers))
      throw new InvalidInputError(
        'continueFrom: that model has other layers than the job; give the job the same model',
      )
    const held: Held = { layers: [0, graph.layers.length], vectors: [continueFrom.state] }
    return () => held
  }
  const drawn = new Map<string, Held>()
  return (layers) => {
    const name = layers.join()
    const held = drawn.get(name) ?? heldOf(initialState(graph, layers, seed), 1)
    drawn.delete(name)
    drawn.set(name, held)
    for (const oldest of [...drawn.keys()].slice(0, -mostDrawn)) drawn.delete(oldest)
    return held
  }
}

/** Whoever leaves is let go as soon as nobody needs it: the host takes what no other has. */
export async function takeOverFromLeavers(host: HostState, signal: AbortSignal): Promise<void> {
  const { stock } = host
  const lacking = stock.lackingWithout(host.roll.thatWant('leave'))
  if (lacking.length === 0) return
  const runs = stock.runsFor(lacking)
  const parts = await collectRuns(host, { runs, optimizer: stock.optimizer }, signal)
  for (const part of parts ?? []) stock.keep(heldOf(part, stock.model.vectors))
}

/** A checkpoint of exactly what was agreed on. Nothing where a part is gone or its holder silent. */
export async function keepWhole(host: HostState, signal: AbortSignal): Promise<void> {
  const { stock, from } = host
  if (!stock.isOpen || stock.hasAll || isLacking(host)) return
  const { model, optimizer, of } = stock
  const { layouts, vectors } = model
  const layers: LayerRange = [0, layouts.length]
  const wanted = without(layers, stock.own.map((held) => held.layers)) // prettier-ignore
  const parts = await collectRuns(host, { runs: stock.runsFor(wanted), optimizer }, signal)
  if (parts === undefined || stock.of !== of) return
  const length = lengthOf(layouts, layers)
  const whole = heldOf({ layers, values: new Float32Array(vectors * length) }, vectors)
  for (const held of [...stock.own, ...parts.map((part) => heldOf(part, vectors))]) {
    const portion = wholePortion(layouts, held.layers)
    writePortion(layouts, whole, { portion, values: readPortion(layouts, held, portion) })
  }
  host.checkpoint = { trained: from, vectors: whole.vectors.map((values) => ({ layers, values })) }
  stock.keepAll(() => whole)
  await keepRun(host)
}

function layersOf(plan: Plan, peer: PeerId): LayerRange | undefined {
  const position = positionOf(plan, peer)
  return position && plan.layout.clusters[position.cluster]?.stages[position.stage]?.layers
}

/** Members take the numbers of the open stock. Before that plan what they say is of the numbers of an earlier stop. */
const isHandedOut = ({ stock, phase, late }: HostState): boolean =>
  stock.isOpen && (phase === 'preparing' || late.size > 0)

/** A member holds the numbers of its part, for others, too. */
export function noteTaken(host: HostState, peer: PeerId): void {
  const { plan, stock, roll } = host
  const layers = plan === undefined ? undefined : layersOf(plan, peer)
  // Of one that was started anew meanwhile it is a word of the program before.
  if (!isHandedOut(host) || layers === undefined || roll.get(peer)?.state === 'joined') return
  if (stock.holds(peer, layers)) return
  stock.add(peer, layers)
  tellHolders(host)
}

/** A peer is gone, and what it held with it. */
export function forgetHolder(host: HostState, peer: PeerId): void {
  if (!host.stock.isOpen) return
  host.stock.forget(peer)
  tellHolders(host)
}

/** Those who still take their parts hear who holds what: once for all who take theirs at about the same time. */
function tellHolders(host: HostState): void {
  const { stock, ports } = host
  if (stock.isTelling) return
  stock.isTelling = true
  void ports.clock.sleep(tellAfterMs).then(() => {
    stock.isTelling = false
    const { plan } = host
    if (!isHandedOut(host) || plan === undefined) return
    const stages = plan.layout.clusters.flatMap((cluster) => cluster.stages)
    const taking = stages.filter(({ peer, layers }) => !stock.holds(peer, layers)).map(({ peer }) => peer)
    host.broadcast({ type: 'state-holders', of: stock.of, donors: stock.donors(ports.links.self) }, taking)
  })
}
