/** Members that pause: their cluster is held and the others go on, until all who asked are back. */
import type { PeerId } from '../../../../shared/ids.ts'
import { clusterName } from '../../../../shared/plan/words.ts'
import { peersOf, planOf, positionOf } from '../plan-in-force.ts'
import { activate } from './drop.ts'
import type { HostState } from './host-state.ts'

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
  host.log.say(`${clusterName(position.cluster)} waits: ${why}`, 'wait')
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

/** Nobody trains, and the run is to end: whoever pauses hands over what it has. */
export function wakeAll(host: HostState): void {
  const plan = planOf(host)
  const clusters = [...host.pausedBy.keys()].sort((a, b) => a - b)
  host.pausedBy.clear()
  for (const cluster of clusters) {
    host.roll.mark(peersOf(plan, cluster), 'training')
    void host.send(peersOf(plan, cluster)[0] ?? '', { type: 'proceed' })
  }
  activate(host, clusters, 'the host ends the training')
}
