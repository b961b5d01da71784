/** From a handful of PCs to a pool that is ready: measure the ways, plan, hand out stages and weights. */
import type { Codec } from '../../../../shared/codec/codec.ts'
import { DoesNotFitError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import { nothingLearned } from '../../../../shared/job/learned.ts'
import type { Pool } from '../../../../shared/plan/pool.ts'
import type { DoesNotFit, Layout, Plan } from '../../../../shared/plan/plan.ts'
import { clusterName, layersInWords } from '../../../../shared/plan/words.ts'
import { minute, second } from '../../../../shared/units.ts'
import { tapedMemoryFactor } from '../../model/profile.ts'
import { correctedPool } from '../learned.ts'
import { measuredPool } from '../measured-pool.ts'
import { planInForce, planPeers, positionOf } from '../plan-in-force.ts'
import { beginLate } from './begin.ts'
import { forecastOf } from './comparison.ts'
import { rehearseTogether } from './crowd.ts'
import type { HostState } from './host-state.ts'
import { mayBegin, readyClusters } from './late.ts'
import { letThemGo } from './leaves.ts'
import { measure, unmeasured } from './measure.ts'
import { whoPauses } from './pauses.ts'
import {
  goBackIfLacking,
  isLacking,
  keepWhole,
  noteTaken,
  standOnOwn,
  takeOverFromLeavers,
} from './take-stock.ts'

/** Whoever needs hardly longer than the first cluster begins with it. */
const beginTogetherMs = second
/** Loading an engine and fetching shards over a slow line; a peer that needs longer is left behind. */
const readyWithinMs = 30 * minute
/** What the pool may lose of its rate for a run that does not hang on its host's PC. */
const hardlySlower = 0.8
/** Searches for one pool, with and without the host's PC and the wish for so many clusters; and for the one before. */
const mostSearched = 6
/** PCs in one line of the log. */
const mostNamed = 8

/**
 * Plan with everyone present until a plan stands with all its stages ready. A run under way waits for members where
 * those present cannot hold the model. False: meanwhile the host ended the run.
 * @throws DoesNotFitError before the first plan when all who ever came cannot hold the model
 */
export async function prepare(host: HostState, signal: AbortSignal): Promise<boolean> {
  if (!host.stock.isOpen) standOnOwn(host)
  for (;;) {
    const layout = await nextLayout(host, signal)
    const isPossible = !('feasible' in layout)
    // Everyone stands still for longer: what was learned is not left with those who may go.
    if (!isPossible) await keepWhole(host, signal)
    if (!isPossible && host.finishing && host.planNumber > 0) return false
    if (!isPossible) await waitForMembers(host, layout, signal)
    else if (await handOut(host, takePlan(host, layout), signal)) {
      letThemGo(host, withoutStage(host, host.roll.thatWant('leave')))
      return true
    }
    await takeOverFromLeavers(host, signal)
    letThemGo(host)
    if (await endsUnprepared(host, signal)) return false
  }
}

/** The run is to end, and there is something to keep of it. */
async function endsUnprepared(host: HostState, signal: AbortSignal): Promise<boolean> {
  const ends = host.finishing && host.from.updates > 0
  if (ends) await keepWhole(host, signal)
  return ends
}

/** Of these, those whom the plan does not need. */
const withoutStage = ({ plan }: HostState, peers: readonly PeerId[]): PeerId[] =>
  peers.filter((peer) => plan === undefined || positionOf(plan, peer) === undefined)

/**
 * The layout that was worth the stop, where the same PCs are there; else the best by what is known. Everyone stands
 * still: ways are measured only where no plan is possible without, and of others when the training goes on.
 */
async function nextLayout(host: HostState, signal: AbortSignal): Promise<Layout | DoesNotFit> {
  const { prepared } = host
  host.prepared = undefined
  host.unplanned = undefined
  if (prepared?.of === whoIsWilling(host)) return prepared.layout
  host.enter('planning', 'searching for the best plan')
  if (host.planNumber > 0) {
    const layout = await layoutFor(host, signal)
    if (!('feasible' in layout) || unmeasured(host).length === 0) return layout
  }
  host.enter('planning', 'measuring the ways between the PCs')
  await measure(host, signal)
  await rehearseTogether(host, signal)
  host.enter('planning', 'searching for the best plan')
  const hasComeMeanwhile = isUnplanned(host)
  host.unplanned = undefined
  const layout = await layoutFor(host, signal)
  // Whoever came while the others were measured has no ways yet.
  return 'feasible' in layout && hasComeMeanwhile ? nextLayout(host, signal) : layout
}

const isUnplanned = ({ unplanned }: HostState): boolean => unplanned !== undefined

/** Names a set of PCs: a plan for others is none for these. */
export const whoIsWilling = ({ roll }: HostState): string =>
  roll.willing
    .map(({ peer }) => peer)
    .sort()
    .join(' ')

async function waitForMembers(
  host: HostState,
  { shortfallBytes, reason }: DoesNotFit,
  signal: AbortSignal,
): Promise<void> {
  const pausing = host.roll.thatWant('pause')
  const missed = host.roll.all.length > host.roll.willing.length
  if (host.planNumber === 0 && !missed) throw new DoesNotFitError(shortfallBytes, reason)
  const why = pausing.length === 0 ? '' : `${whoPauses(host, pausing)}, and `
  host.enter('paused', `waiting for members: ${why}${reason}`)
  await host.watch.until(() => host.unplanned !== undefined || host.finishing, { signal })
}

/** A member has its stage. Of one that was started anew meanwhile, it is a word of the program before. */
export function noteReady(host: HostState, peer: PeerId): void {
  const entry = host.roll.get(peer)
  if (entry === undefined || entry.state === 'joined') return
  entry.layout = host.layoutNumber
  noteTaken(host, peer)
  if (entry.wish === 'train') host.roll.mark([peer], 'ready')
  beginLate(host)
}

function sendAssignments(host: HostState, proposal: Plan): void {
  const { stock, hosted, from, ports } = host
  const state = { of: stock.of, optimizer: stock.optimizer, donors: stock.donors(ports.links.self) }
  const header = { type: 'assignment', spec: hosted.spec, proposal, from } as const
  for (const { peer } of host.roll.present)
    void host.send(peer, { ...header, state: { ...state, keeps: stock.isHolder(peer) } })
}

/** True when every stage of the plan is ready. */
async function handOut(host: HostState, plan: Plan, signal: AbortSignal): Promise<boolean> {
  const peers = planPeers(plan)
  host.enter('preparing', 'engines load, data and weights travel')
  host.roll.mark(peers, 'preparing')
  host.roll.mark(host.roll.thatWant('pause'), 'paused', 'pauses')
  for (const { peer, reason } of plan.layout.unused) host.roll.mark([peer], 'idle', reason)
  sendAssignments(host, plan)
  const beganMs = host.ports.clock.now()
  // One that comes again within this plan never heard of it.
  const isThere = (peer: PeerId) => host.roll.isPresent(peer) && host.roll.get(peer)?.state !== 'joined'
  const isReady = () => peers.every((peer) => host.roll.get(peer)?.state === 'ready')
  // Somebody is gone, needs its PC, or waits to be let go: by a plan without it.
  const isUnwilling = (peer: PeerId) => host.roll.get(peer)?.wish === 'pause'
  const isInVain = () =>
    !peers.every(isThere) ||
    peers.some(isUnwilling) ||
    isLacking(host) ||
    host.roll.thatWant('leave').length > 0
  const settled = () => isReady() || isInVain()
  const someReady = () => mayBegin(host, plan, readyClusters(host, plan))
  const inTime = await host.watch.until(() => settled() || someReady(), { signal, withinMs: readyWithinMs })
  if (inTime) await host.watch.until(settled, { signal, withinMs: beginTogetherMs })
  host.handOutMs = host.ports.clock.now() - beganMs
  const [newcomer] = unmeasured(host)
  if (newcomer !== undefined) host.unplanned ??= `${host.roll.nameOf(newcomer.peer)} joined`
  const late = peers.filter((peer) => host.roll.get(peer)?.state === 'preparing')
  if (!inTime) host.roll.mark(late, 'lost', 'was not ready in time')
  if (!isInVain()) setLate(host, plan)
  return (isReady() || host.late.size > 0) && !peers.some((peer) => host.roll.get(peer)?.wish !== 'train')
}

/** Where some clusters may begin, the others are late. */
function setLate(host: HostState, plan: Plan): void {
  const ready = readyClusters(host, plan)
  const others = plan.active.filter((cluster) => !ready.includes(cluster))
  if (mayBegin(host, plan, ready)) for (const cluster of others) host.late.add(cluster)
}

/**
 * The best cut for those present; with a plan in force nearly the best, with as little moved as can be. In a run under
 * way as many clusters as they can be, where the wish is too much.
 */
export async function layoutFor(host: HostState, signal: AbortSignal): Promise<Layout | DoesNotFit> {
  const { hosted, planNumber } = host
  const { clusters } = hosted.gathering
  const pool = poolOf(host)
  const wished = await search(host, { pool, clusters }, signal)
  const mayDiffer = 'feasible' in wished && clusters !== undefined && planNumber > 0
  const best = mayDiffer ? await search(host, { pool }, signal) : wished
  return 'feasible' in best ? best : ((await withoutHostIn(host, best, signal)) ?? best)
}

/** A search may take seconds, and the same request gives the same plan: whoever asks again soon gets it at once. */
async function search(
  { hosted, ports, searched, plan }: HostState,
  { pool, clusters }: { readonly pool: Pool; readonly clusters?: number | undefined },
  signal: AbortSignal,
): Promise<Layout | DoesNotFit> {
  const { spec, layerFlops } = hosted
  const { graph, recipe, seed } = spec
  const inForce = plan?.layout.clusters.map(({ stages }) => stages)
  const previous = inForce === undefined ? {} : { previous: inForce }
  const key = JSON.stringify([pool, clusters, inForce])
  const request = { pool, graph, recipe, seed, clusters, layerFlops, ...previous }
  const found = searched.get(key) ?? (await ports.plan(request, signal))
  searched.delete(key)
  searched.set(key, found)
  for (const oldest of [...searched.keys()].slice(0, -mostSearched)) searched.delete(oldest)
  return found
}

/**
 * A single cluster stands still when its host is gone, for the host is what brings a pool back after any other loss. So
 * the others train without the host's PC where they can, and are hardly slower for it; the host stands by.
 */
async function withoutHostIn(
  host: HostState,
  { clusters, samplesPerSecond }: Layout,
  signal: AbortSignal,
): Promise<Layout | undefined> {
  const { self } = host.ports.links
  const stages = clusters.flatMap((cluster) => cluster.stages)
  if (clusters.length > 1 || host.roll.willing.length < 3 || !stages.some(({ peer }) => peer === self))
    return undefined
  const pool = poolOf(host)
  const others = { ...pool, peers: pool.peers.filter(({ id }) => id !== self) }
  others.links = pool.links.filter(({ between }) => !between.includes(self))
  const layout = await search(host, { pool: others, clusters: 1 }, signal)
  if ('feasible' in layout || layout.samplesPerSecond < hardlySlower * samplesPerSecond) return undefined
  const reason = 'stands by: the others train on if this PC is gone'
  return { ...layout, unused: [...layout.unused, { peer: self, reason }] }
}

/** To the next stage, where there is one; what is not sent as it is says how. */
function arrowFor(codec: Codec | undefined): string {
  if (codec === undefined) return ''
  return codec === 'fp32' ? ' → ' : ` –${codec}→ `
}

/** Those present as they measured themselves, and as experience has it. */
export function poolOf({ hosted, roll }: HostState): Pool {
  const { graph, recipe } = hosted.spec
  const pool = measuredPool(roll.willing, tapedMemoryFactor(graph, recipe))
  return correctedPool(pool, hosted.learned ?? nothingLearned)
}

/** Who holds what, where a line has room for it; else how many. */
function layoutInWords({ roll }: HostState, { clusters }: Layout): string {
  const many = clusters.reduce((sum, { stages }) => sum + stages.length, 0)
  if (many > mostNamed) return `${many} PCs in ${clusters.length} clusters`
  return clusters
    .map(({ stages }, index) => {
      const held = stages.map(
        ({ peer, layers, codec }) => `${roll.nameOf(peer)} ${layersInWords(layers)}${arrowFor(codec)}`,
      )
      return `${clusterName(index)} is ${held.join('')}`
    })
    .join('; ')
}

function takePlan(host: HostState, layout: Layout): Plan {
  goBackIfLacking(host)
  host.planNumber++
  host.layoutNumber = host.planNumber
  host.log.say(`plan ${host.planNumber}: ${layoutInWords(host, layout)}`)
  const plan = planInForce(layout, host.hosted.spec.recipe, host.planNumber)
  host.plan = plan
  host.forecast = forecastOf(host, plan, poolOf(host))
  return plan
}
