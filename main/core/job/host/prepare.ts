/** From a handful of PCs to a pool that is ready: measure the ways, plan, hand out stages and weights. */
import type { Codec } from '../../../../shared/codec/codec.ts'
import { BadMessageError, DoesNotFitError, InvalidInputError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { nothingLearned } from '../../../../shared/job/learned.ts'
import type { Pool } from '../../../../shared/plan/pool.ts'
import type { DoesNotFit, Layout, Plan } from '../../../../shared/plan/plan.ts'
import { clusterName, layersInWords } from '../../../../shared/plan/words.ts'
import { minute } from '../../../../shared/units.ts'
import { initialState } from '../../model/initial-state.ts'
import { tapedMemoryFactor } from '../../model/profile.ts'
import { sliceState } from '../../model/state.ts'
import type { StateVector } from '../../ports.ts'
import { correctedPool } from '../learned.ts'
import { measuredPool } from '../measured-pool.ts'
import { planInForce, positionOf } from '../plan-in-force.ts'
import { type LinkReport, probedPeers } from '../link-probes.ts'
import { sliceNumbers } from '../checkpoint.ts'
import { sendState } from '../transfer.ts'
import { forecastOf } from './comparison.ts'
import type { HostState } from './host-state.ts'
import { whoPauses } from './pauses.ts'
import type { Enrolled } from './roll.ts'

/** Measuring takes seconds; a peer that is not done by then is planned with what others measured of it. */
const measureWithinMs = minute
/** Loading an engine and fetching shards over a slow line; a peer that needs longer is left behind. */
const readyWithinMs = 30 * minute
/** PCs in one line of the log. */
const mostNamed = 8

/**
 * Plan with everyone present until a plan stands with all its stages ready. A run under way waits for members where
 * those present cannot hold the model. False: meanwhile the host ended the run.
 * @throws DoesNotFitError before the first plan when all who ever came cannot hold the model
 */
export async function prepare(host: HostState, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    host.enter('planning', 'measuring the ways between the PCs')
    await measure(host, signal)
    host.enter('planning', 'searching for the best plan')
    host.unplanned = undefined
    const layout = await layoutFor(host, signal)
    if ('feasible' in layout) {
      if (host.finishing && host.planNumber > 0) return false
      await waitForMembers(host, layout, signal)
    } else if (await handOut(host, takePlan(host, layout), signal)) return true
    if (host.finishing && host.from.updates > 0) return false
  }
}

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

/** True when every stage of the plan is ready. */
async function handOut(host: HostState, plan: Plan, signal: AbortSignal): Promise<boolean> {
  const peers = plan.layout.clusters.flatMap(({ stages }) => stages.map((stage) => stage.peer))
  host.enter('preparing', 'engines load, data and weights travel')
  host.roll.mark(peers, 'preparing')
  host.roll.mark(host.roll.thatWant('pause'), 'paused', 'pauses')
  for (const { peer, reason } of plan.layout.unused) host.roll.mark([peer], 'idle', reason)
  host.broadcast({ type: 'assignment', spec: host.hosted.spec, proposal: plan, from: host.from })
  const beganMs = host.ports.clock.now()
  const settled = () =>
    peers.every((peer) => host.roll.get(peer)?.state === 'ready') ||
    peers.some((peer) => !host.roll.isPresent(peer))
  await host.watch.until(settled, { signal, withinMs: readyWithinMs })
  host.handOutMs = host.ports.clock.now() - beganMs
  const late = peers.filter((peer) => host.roll.get(peer)?.state === 'preparing')
  const allPresent = peers.every((peer) => host.roll.isPresent(peer))
  if (allPresent && late.length > 0) host.roll.mark(late, 'lost', 'was not ready in time')
  return allPresent && late.length === 0
}

/** Learn every way between those present that nobody has told of yet. */
export async function measure(host: HostState, signal: AbortSignal): Promise<void> {
  const { willing } = host.roll
  // The newest first: whoever answers has heard that it is in, and answers the probes of others.
  // One after the other: measured side by side, every way would look as slow as the machine is busy.
  for (const entry of willing.toReversed()) {
    const unknown = () => {
      const known = new Set(entry.links.map(({ peer }) => peer))
      return willing.map(({ peer }) => peer).filter((peer) => peer !== entry.peer && !known.has(peer))
    }
    const peers = unknown().slice(0, Math.max(0, probedPeers - entry.links.length))
    if (peers.length === 0) continue
    entry.measured = false
    void host.send(entry.peer, { type: 'measure-links', peers })
    // One who comes again has a new line, and is measured the next time.
    const done = () => entry.measured || entry.state === 'lost' || host.roll.get(entry.peer) !== entry
    await host.watch.until(done, { signal, withinMs: measureWithinMs })
  }
}

/** What a member measured, beside what it told before. */
export function noteLinks(entry: Enrolled, links: readonly LinkReport[]): void {
  const news = new Set(links.map(({ peer }) => peer))
  entry.links = [...entry.links.filter(({ peer }) => !news.has(peer)), ...links]
  entry.measured = true
}

/**
 * The best cut for those present; with a plan in force nearly the best, with as little moved as can be. In a run under
 * way as many clusters as they can be, where the wish is too much.
 */
export async function layoutFor(host: HostState, signal: AbortSignal): Promise<Layout | DoesNotFit> {
  const { spec, gathering, layerFlops } = host.hosted
  const { graph, recipe, seed } = spec
  const pool = poolOf(host)
  const inForce = host.plan?.layout.clusters.map(({ stages }) => stages)
  const previous = inForce === undefined ? {} : { previous: inForce }
  const wishing = (clusters: number | undefined) =>
    host.ports.plan({ pool, graph, recipe, seed, clusters, layerFlops, ...previous }, signal)
  const wished = await wishing(gathering.clusters)
  const mayDiffer = gathering.clusters !== undefined && host.planNumber > 0
  return 'feasible' in wished && mayDiffer ? wishing(undefined) : wished
}

/** To the next stage, where there is one; what is not sent as it is says how. */
function arrowFor(codec: Codec | undefined): string {
  if (codec === undefined) return ''
  return codec === 'fp32' ? ' → ' : ` –${codec}→ `
}

/** Those present as they measured themselves, and as experience has it. */
function poolOf({ hosted, roll }: HostState): Pool {
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
  host.planNumber++
  host.layoutNumber = host.planNumber
  host.log.say(`plan ${host.planNumber}: ${layoutInWords(host, layout)}`)
  const plan = planInForce(layout, host.hosted.spec.recipe, host.planNumber)
  host.plan = plan
  host.forecast = forecastOf(host, plan, poolOf(host))
  return plan
}

/**
 * A member asks for the weights of its stage: it has loaded its engine and can take them.
 * @throws BadMessageError when the layers are not its stage
 */
export function sendWeights(
  host: HostState,
  to: PeerId,
  { header }: WireMessage<'parameters-request'>,
): void {
  const { hosted, ports } = host
  const layers = layersOf(host, to)
  if (header.plan !== host.plan?.number || layers?.join() !== header.layers.join())
    throw new BadMessageError('asks for the weights of another stage than its own')
  const state = numbersOf(host, layers)
  // A peer that is lost meanwhile is seen in the roll, not here.
  sendState(ports.links, { to, job: hosted.job, plan: header.plan }, state).catch(() => undefined)
}

function numbersOf(host: HostState, layers: LayerRange): StateVector {
  const { graph, seed } = host.hosted.spec
  if (host.checkpoint !== undefined && host.from.updates > 0)
    return sliceNumbers(graph, host.checkpoint, layers)
  const whole = continuedState(host)
  return whole === undefined ? initialState(graph, layers, seed) : sliceState(graph, whole, layers)
}

/** What a peer holds by the newest plan. */
function layersOf({ plan }: HostState, peer: PeerId): LayerRange | undefined {
  const position = plan === undefined ? undefined : positionOf(plan, peer)
  return position && plan?.layout.clusters[position.cluster]?.stages[position.stage]?.layers
}

function continuedState(host: HostState): StateVector | undefined {
  const { continueFrom, spec } = host.hosted
  if (continueFrom === undefined) return undefined
  if (JSON.stringify(continueFrom.spec.graph.layers) !== JSON.stringify(spec.graph.layers))
    throw new InvalidInputError(
      'continueFrom: that model has other layers than the job; give the job the same model',
    )
  return { layers: [0, spec.graph.layers.length], values: continueFrom.state }
}
