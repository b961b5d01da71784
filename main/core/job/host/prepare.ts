/** From a handful of PCs to a pool that is ready: measure the ways, plan, hand out stages and weights. */
import { BadMessageError, DoesNotFitError, InvalidInputError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import type { ModelProfile } from '../../../../shared/plan/pool.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { minute } from '../../../../shared/units.ts'
import { initialState } from '../../model/initial-state.ts'
import { profileOf } from '../../model/profile.ts'
import { sliceState } from '../../model/state.ts'
import { planPool } from '../../planner/plan-pool.ts'
import type { StateVector } from '../../ports.ts'
import { measuredPool } from '../measured-pool.ts'
import { planInForce, positionOf } from '../plan-in-force.ts'
import { sendState } from '../transfer.ts'
import type { HostState } from './host-state.ts'

/** Measuring takes seconds; a peer that is not done by then is planned with what others measured of it. */
const measureWithinMs = minute
/** Loading an engine and fetching shards over a slow line; a peer that needs longer is left behind. */
const readyWithinMs = 30 * minute

/**
 * Plan with everyone present until a plan stands with all its stages ready.
 * @throws DoesNotFitError when the pool cannot hold the model
 */
export async function prepare(host: HostState, signal: AbortSignal): Promise<Plan> {
  for (;;) {
    await measure(host, signal)
    const plan = makePlan(host)
    const peers = plan.layout.clusters.flatMap(({ stages }) => stages.map((stage) => stage.peer))
    host.plan = plan
    host.enter('preparing', 'engines load, data and weights travel')
    host.roll.mark(peers, 'preparing')
    for (const { peer, reason } of plan.layout.unused) host.roll.mark([peer], 'idle', reason)
    host.broadcast({ type: 'assignment', spec: host.hosted.spec, proposal: plan })
    const settled = () =>
      peers.every((peer) => host.roll.get(peer)?.state === 'ready') ||
      peers.some((peer) => !host.roll.isPresent(peer))
    await host.watch.until(settled, { signal, withinMs: readyWithinMs })
    const late = peers.filter((peer) => host.roll.get(peer)?.state === 'preparing')
    if (late.length === 0 && peers.every((peer) => host.roll.isPresent(peer))) return plan
    if (peers.every((peer) => host.roll.isPresent(peer)))
      host.roll.mark(late, 'lost', 'was not ready in time')
  }
}

async function measure(host: HostState, signal: AbortSignal): Promise<void> {
  const { present } = host.roll
  if (present.length < 2 || present.every((entry) => entry.links !== undefined)) return
  host.enter('planning', 'measuring the ways between the PCs')
  // One after the other: measured side by side, every way would look as slow as the machine is busy.
  for (const entry of present) {
    const peers = present.map((other) => other.peer).filter((peer) => peer !== entry.peer)
    void host.send(entry.peer, { type: 'measure-links', peers })
    const done = () => entry.links !== undefined || entry.state === 'lost'
    await host.watch.until(done, { signal, withinMs: measureWithinMs })
  }
}

function makePlan(host: HostState): Plan {
  const { spec, gathering } = host.hosted
  host.enter('planning', 'searching for the best plan')
  const peers = host.roll.present.map(({ peer, device, links }) => ({ peer, device, links: links ?? [] }))
  const profile: ModelProfile = profileOf(spec.graph, spec.recipe)
  const pool = measuredPool(peers)
  const { clusters } = gathering
  const layout = planPool({ pool, profile, seed: spec.seed, ...(clusters === undefined ? {} : { clusters }) })
  if ('feasible' in layout) throw new DoesNotFitError(layout.shortfallBytes, layout.reason)
  host.planNumber++
  host.log.say(
    `plan ${host.planNumber}: ` +
      layout.clusters
        .map(({ stages }) =>
          stages.map((stage) => `${host.roll.nameOf(stage.peer)} ${stage.layers.join('–')}`).join(' → '),
        )
        .join(' | '),
  )
  return planInForce(layout, spec.recipe, host.planNumber)
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
  const { graph, seed } = hosted.spec
  const whole = continuedState(host)
  const state = whole === undefined ? initialState(graph, layers, seed) : sliceState(graph, whole, layers)
  // A peer that is lost meanwhile is seen in the roll, not here.
  sendState(ports.links, { to, job: hosted.job, plan: header.plan }, state).catch(() => undefined)
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
