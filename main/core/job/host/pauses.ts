/** Members that pause: their cluster is held and the others go on, until all who asked are back. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { MemberView } from '../../../../shared/messages/control.ts'
import { clusterName } from '../../../../shared/plan/words.ts'
import { peersOf, planOf, positionOf } from '../plan-in-force.ts'
import { activate } from './drop.ts'
import type { HostState } from './host-state.ts'
import { giveUpLate } from './late.ts'

/** The members of a cluster who want to pause. */
function askersOf(host: HostState, cluster: number): PeerId[] {
  const members = peersOf(planOf(host), cluster)
  return host.roll.thatWant('pause').filter((peer) => members.includes(peer))
}

const clusterOf = ({ plan }: HostState, peer: PeerId): number | undefined =>
  plan === undefined ? undefined : positionOf(plan, peer)?.cluster

const rootOf = (host: HostState, cluster: number): PeerId => peersOf(planOf(host), cluster)[0] ?? ''

/** Of a member whose stage, if it has one, has not begun. */
const notBegun: readonly MemberView['state'][] = ['joined', 'idle', 'preparing', 'ready']

/** A member asks to pause. Without a stage that trains it is left out of plans; else its cluster is held. */
export function notePause(host: HostState, peer: PeerId): void {
  const entry = host.roll.get(peer)
  if (entry?.wish !== 'train') return
  entry.wish = 'pause'
  if (notBegun.includes(entry.state)) host.roll.mark([peer], 'paused', 'pauses')
  const why = `${host.roll.nameOf(peer)} pauses`
  if (giveUpLate(host, peer, why)) host.unplanned = why
  holdThosePausing(host)
}

/** It trains, or did until a member paused. */
const isOfTraining = (host: HostState, cluster: number): boolean =>
  host.held.has(cluster) || planOf(host).active.includes(cluster)

/** Hold every cluster that trains though a member of it wants to pause. */
export function holdThosePausing(host: HostState): void {
  if (host.phase !== 'training') return
  for (const cluster of planOf(host).active) {
    if (host.held.has(cluster) || askersOf(host, cluster).length === 0) continue
    host.held.set(cluster, { sinceMs: host.ports.clock.now(), considered: false })
    void host.send(rootOf(host, cluster), { type: 'hold' })
  }
}

/** Who pauses, as a sentence. */
export function whoPauses(host: HostState, askers: readonly PeerId[]): string {
  return `${host.roll.namesOf(askers)} ${askers.length === 1 ? 'pauses' : 'pause'}`
}

/** A held cluster is empty, or a member of it rests on what is in flight. */
export function noteHeld(host: HostState, peer: PeerId): void {
  const cluster = clusterOf(host, peer)
  if (cluster === undefined || !host.held.has(cluster)) return
  const plan = planOf(host)
  // Said before: by the root, or by another member that rests.
  if (!plan.active.includes(cluster)) return
  const why = whoPauses(host, askersOf(host, cluster))
  host.roll.mark(peersOf(plan, cluster), 'paused', why)
  host.log.say(`${clusterName(cluster)} waits: ${why}`, 'wait')
  const left = plan.active.filter((other) => other !== cluster)
  activate(host, left, why)
  if (left.length === 0) host.enter('paused', why)
}

/** A member that paused is back; with the last of a cluster, the cluster is. */
export function noteResume(host: HostState, peer: PeerId): void {
  const entry = host.roll.get(peer)
  if (entry?.wish !== 'pause') return
  entry.wish = 'train'
  const back = `${host.roll.nameOf(peer)} is back`
  const cluster = clusterOf(host, peer)
  if (cluster === undefined || host.standsStill || !isOfTraining(host, cluster)) {
    host.roll.mark([peer], 'joined')
    host.log.say(back)
    if (host.phase !== 'gathering') host.unplanned = back
  } else if (host.held.has(cluster)) proceedCluster(host, cluster, back)
}

function proceedCluster(host: HostState, cluster: number, back: string): void {
  const plan = planOf(host)
  const askers = askersOf(host, cluster)
  if (askers.length > 0) {
    const why = whoPauses(host, askers)
    host.roll.mark(peersOf(plan, cluster), 'paused', why)
    host.log.say(`${back}; ${why}`, 'wait')
    return
  }
  host.held.delete(cluster)
  host.log.say(back)
  if (!plan.active.includes(cluster)) {
    host.roll.mark(peersOf(plan, cluster), 'training')
    activate(host, inOrder([...plan.active, cluster]), back)
  }
  host.enter('training', 'training')
  void host.send(rootOf(host, cluster), { type: 'proceed' })
}

const inOrder = (clusters: readonly number[]) => [...new Set(clusters)].sort((a, b) => a - b)

/**
 * Roots admit no more; what is in flight is trained, and every ring makes its last round. Clusters that are held take
 * part: nothing is computed there, but what their stages know is handed over.
 */
export function drainAll(host: HostState, reason: string): void {
  const held = [...host.held.keys()]
  host.held.clear()
  const asleep = held.filter((cluster) => !planOf(host).active.includes(cluster))
  for (const cluster of asleep) host.roll.mark(peersOf(planOf(host), cluster), 'training')
  for (const cluster of asleep) host.woken.add(cluster)
  if (asleep.length > 0) activate(host, inOrder([...planOf(host).active, ...asleep]), reason)
  const roots = (clusters: readonly number[]) => clusters.map((cluster) => rootOf(host, cluster))
  host.broadcast({ type: 'finish' }, roots(planOf(host).active))
  host.broadcast({ type: 'proceed' }, roots(held))
}
