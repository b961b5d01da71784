/** The run itself, as the host sees it: progress, validations, pauses, and clusters that drop out. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import { scoresOf } from '../../../../shared/model/tally.ts'
import { noProgress } from '../no-progress.ts'
import { activePeers, peersOf, positionOf, withActive } from '../plan-in-force.ts'
import { InvariantError } from '../../../../shared/errors.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { HostState } from './host-state.ts'

/** The plan in force. @throws InvariantError before there is one */
export function planOf(host: HostState): Plan {
  if (host.plan === undefined) throw new InvariantError('there is no plan yet')
  return host.plan
}

/** Clusters that still train or have finished; empty when every one lost a peer. */
function finished(host: HostState): boolean {
  const plan = planOf(host)
  if (plan.active.length === 0) return host.pausedBy.size === 0
  return plan.active.every((cluster) => host.roll.clusterIs(plan, cluster, 'finished'))
}

/** Start, and return when every active cluster has drained and made its last round, or none is left. */
export async function train(host: HostState, signal: AbortSignal): Promise<void> {
  host.trainingSinceMs = host.ports.clock.now()
  host.enter('training', 'training')
  host.roll.mark(activePeers(planOf(host)), 'training')
  host.broadcast({ type: 'start' }, activePeers(planOf(host)))
  if (host.finishing) finishEarly(host)
  await host.watch.until(() => finished(host), { signal })
}

/** End early and keep what was learned: roots admit no more, everything in flight is trained. */
export function finishEarly(host: HostState): void {
  host.finishing = true
  if (host.phase === 'gathering') host.startNow = true
  if (host.phase !== 'training' && host.phase !== 'paused') return
  if (host.phase === 'paused') wakeAll(host)
  host.enter('draining', 'finishing what is in flight')
  const plan = planOf(host)
  host.broadcast(
    { type: 'finish' },
    plan.active.map((cluster) => peersOf(plan, cluster)[0] ?? ''),
  )
}

/** Nobody trains, and the run is to end: whoever pauses hands over what it has. */
function wakeAll(host: HostState): void {
  const plan = planOf(host)
  const clusters = [...host.pausedBy.keys()].sort((a, b) => a - b)
  host.pausedBy.clear()
  for (const cluster of clusters) {
    host.roll.mark(peersOf(plan, cluster), 'training')
    void host.send(peersOf(plan, cluster)[0] ?? '', { type: 'proceed' })
  }
  activate(host, clusters, 'the host ends the training')
}

/** Take the report of a member; the leaf's training loss goes into the curve. */
export function noteProgress(host: HostState, from: PeerId, { header }: WireMessage<'progress'>): void {
  const entry = host.roll.get(from)
  if (entry === undefined) return
  entry.progress = header
  const scores = header.training === undefined ? undefined : scoresOf(header.training)
  if (scores !== undefined) host.trainingCurve.add({ updates: header.updates, loss: scores.loss })
  validateIfDue(host)
  host.watch.notify()
}

function validateIfDue(host: HostState): void {
  const { validation, data } = host.hosted.spec
  const cluster = planOf(host).active[0]
  const possible = host.phase === 'training' && data.validationSamples > 0
  if (!possible || cluster === undefined || isValidating(host, cluster)) return
  const root = peersOf(planOf(host), cluster)[0] ?? ''
  const { updates } = host.roll.get(root)?.progress ?? noProgress
  const { everyUpdates = Infinity } = validation
  const id = Math.floor(updates / everyUpdates)
  if (id <= lastValidation(host)) return
  host.validation = { id, cluster }
  void host.send(root, {
    type: 'validate',
    id,
    samples: Math.min(validation.samples, data.validationSamples),
  })
}

const lastValidation = (host: HostState) => host.validation?.id ?? 0

/** One at a time: a slow cluster is not buried in validations. A lost cluster's never answers. */
function isValidating({ validation }: HostState, cluster: number): boolean {
  return validation !== undefined && validation.tally === undefined && validation.cluster === cluster
}

/** Take a validation's outcome, if it is the one we wait for. */
export function noteValidated(host: HostState, { header }: WireMessage<'validated'>): void {
  if (host.validation?.id !== header.id) return
  host.validation = { ...host.validation, tally: header.tally }
  const scores = scoresOf(header.tally)
  if (scores !== undefined) {
    host.validationCurve.add({ updates: header.updates, scores })
    host.log.say(
      `after ${header.updates} updates: validation loss ${scores.loss.toFixed(3)}, accuracy ${percent(scores.accuracy)}`,
    )
  }
  host.watch.notify()
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function activate(host: HostState, active: readonly number[], reason: string): void {
  const plan = withActive(planOf(host), active)
  host.plan = plan
  host.planNumber = plan.number
  // A member that had finished makes its last round again, with those who are left.
  const again = activePeers(plan).filter((peer) => host.roll.get(peer)?.state === 'finished')
  if (host.phase !== 'finishing') host.roll.mark(again, 'training')
  host.broadcast({ type: 'replan', proposal: plan, reason })
  host.watch.notify()
}

/** A member is gone. Its cluster stops, the others go on under a new plan. */
export function dropPeer(host: HostState, peer: PeerId, reason: string): void {
  const entry = host.roll.get(peer)
  if (entry === undefined || entry.state === 'lost') return
  entry.state = 'lost'
  entry.reason = reason
  host.log.say(`${host.roll.nameOf(peer)} is gone: ${reason}`, 'warn')
  const plan = host.plan
  const position = plan === undefined ? undefined : positionOf(plan, peer)
  const running = host.trainingSinceMs !== undefined && host.phase !== 'ended'
  if (plan !== undefined && position !== undefined && running) dropCluster(host, plan, position.cluster, peer)
  host.watch.notify()
}

function dropCluster(host: HostState, plan: Plan, cluster: number, peer: PeerId): void {
  const others = peersOf(plan, cluster).filter((other) => other !== peer && host.roll.isPresent(other))
  const why = `its cluster lost ${host.roll.nameOf(peer)}`
  host.pausedBy.delete(cluster)
  host.roll.mark(others, 'idle', why)
  if (!plan.active.includes(cluster)) return
  const left = plan.active.filter((other) => other !== cluster)
  host.log.say(
    left.length === 0 ? 'no whole cluster is left' : `cluster ${cluster + 1} stops; ${left.length} go on`,
    'warn',
  )
  activate(host, left, why)
}

/** A member asks to pause: hold its cluster; when it is empty the others go on without it. */
export function holdCluster(host: HostState, peer: PeerId): void {
  const position = host.plan === undefined ? undefined : positionOf(host.plan, peer)
  if (host.plan === undefined || position === undefined) return
  const { cluster } = position
  const askers = host.pausedBy.get(cluster)
  askers?.add(peer)
  if (askers !== undefined || host.phase !== 'training' || !host.plan.active.includes(cluster)) return
  host.pausedBy.set(cluster, new Set([peer]))
  void host.send(peersOf(host.plan, cluster)[0] ?? '', { type: 'hold' })
}

/** Who pauses a cluster, as a sentence. */
function whoPauses(host: HostState, askers: ReadonlySet<PeerId>): string {
  const names = [...askers].map((peer) => host.roll.nameOf(peer))
  return `${names.join(' and ')} ${names.length === 1 ? 'pauses' : 'pause'}`
}

/** A held cluster is empty. */
export function noteHeld(host: HostState, root: PeerId): void {
  const plan = planOf(host)
  const position = positionOf(plan, root)
  const askers = position === undefined ? undefined : host.pausedBy.get(position.cluster)
  if (position === undefined || askers === undefined) return
  const why = whoPauses(host, askers)
  host.roll.mark(peersOf(plan, position.cluster), 'paused', why)
  host.log.say(`cluster ${position.cluster + 1} waits: ${why}`, 'wait')
  const left = plan.active.filter((cluster) => cluster !== position.cluster)
  activate(host, left, why)
  if (left.length === 0) host.enter('paused', why)
}

/** A member that paused is back; with the last of a cluster, the cluster is. */
export function proceedCluster(host: HostState, peer: PeerId): void {
  const plan = host.plan
  const position = plan === undefined ? undefined : positionOf(plan, peer)
  const askers = position === undefined ? undefined : host.pausedBy.get(position.cluster)
  if (plan === undefined || position === undefined || askers?.delete(peer) !== true) return
  const back = `${host.roll.nameOf(peer)} is back`
  if (askers.size > 0) {
    const why = whoPauses(host, askers)
    host.roll.mark(peersOf(plan, position.cluster), 'paused', why)
    host.log.say(`${back}; ${why}`, 'wait')
    return
  }
  host.pausedBy.delete(position.cluster)
  host.log.say(back)
  if (!plan.active.includes(position.cluster)) {
    host.roll.mark(peersOf(plan, position.cluster), 'training')
    activate(
      host,
      [...plan.active, position.cluster].sort((a, b) => a - b),
      back,
    )
  }
  host.enter('training', 'training')
  void host.send(peersOf(plan, position.cluster)[0] ?? '', { type: 'proceed' })
}
