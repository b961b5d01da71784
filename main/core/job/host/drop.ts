/** Clusters that go and come: under the next plan number others are active, every stage stays as it is. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { clusterName } from '../../../../shared/plan/words.ts'
import { minute } from '../../../../shared/units.ts'
import { activePeers, peersOf, planOf, positionOf, withActive } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'
import { giveUpLate } from './late.ts'
import { forgetHolder } from './take-stock.ts'

/** A stage that cannot go on twice within this has a bad way to its neighbour: another plan with both will not help. */
const breaksAgainAfterMs = minute

/** From now on these clusters train. */
export function activate(host: HostState, active: readonly number[], reason: string): void {
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
  entry.layout = undefined
  forgetHolder(host, peer)
  host.log.say(`${host.roll.nameOf(peer)} is gone: ${reason}`, 'warn')
  const plan = host.plan
  const position = plan === undefined ? undefined : positionOf(plan, peer)
  if (plan !== undefined && position !== undefined && isRunning(host))
    dropCluster(host, plan, position.cluster, peer)
  host.watch.notify()
}

/** Stages of the plan are at work. */
const isRunning = ({ trainingSinceMs, phase, plan }: HostState): boolean =>
  trainingSinceMs !== undefined && phase !== 'preparing' && phase !== 'ended' && plan !== undefined

function dropCluster(host: HostState, plan: Plan, cluster: number, peer: PeerId): void {
  const why = `its cluster lost ${host.roll.nameOf(peer)}`
  if (giveUpLate(host, peer, why)) host.log.say(`${clusterName(cluster)} does not begin: ${why}`, 'warn')
  host.unplanned = `${host.roll.nameOf(peer)} is gone`
  const others = peersOf(plan, cluster).filter((other) => other !== peer && host.roll.isPresent(other))
  stopCluster(host, cluster, others, why)
}

/** @param others - of its members, those who are there */
function stopCluster(host: HostState, cluster: number, others: readonly PeerId[], why: string): void {
  const { active } = planOf(host)
  // A pause of one of them ends in another plan: this cluster does not go on.
  host.held.delete(cluster)
  host.roll.mark(others, 'idle', why)
  // Each of them says what it still holds when it hears of it.
  for (const other of others) host.roll.forgetStage(other)
  if (!active.includes(cluster)) return
  const left = active.filter((other) => other !== cluster)
  host.log.say(
    left.length === 0
      ? 'no whole cluster is left'
      : `${clusterName(cluster)} stops; ${othersGoOn(left.length)}`,
    'warn',
  )
  activate(host, left, why)
}

/**
 * A stage cannot go on where it stands, though nobody is gone: two PCs of a cluster lost each other for a moment. Its cluster
 * stops, and the next plan may be the same. Where that happens again soon, the PC has to go until its way is good.
 */
export function noteBroken(host: HostState, peer: PeerId): void {
  const { plan, phase, ports, brokeAtMs, roll } = host
  const cluster = plan === undefined ? undefined : positionOf(plan, peer)?.cluster
  if (plan === undefined || cluster === undefined) return
  const isNew = ports.clock.now() - (brokeAtMs.get(peer) ?? -Infinity) >= breaksAgainAfterMs
  if (phase !== 'training' || !plan.active.includes(cluster) || !isNew) return
  brokeAtMs.set(peer, ports.clock.now())
  const why = `${roll.nameOf(peer)} missed a PC of its cluster`
  host.log.say(why, 'warn')
  host.unplanned = why
  const members = peersOf(plan, cluster).filter((one) => roll.isPresent(one))
  stopCluster(host, cluster, members, why)
}

const othersGoOn = (many: number): string => (many === 1 ? 'one other goes on' : `${many} others go on`)
