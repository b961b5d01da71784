/** Clusters that begin after the others: what they need is still on its way when those are ready. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { Bytes } from '../../../../shared/units.ts'
import { lengthOf } from '../moving/held.ts'
import { peersOf, positionOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'

const bytesPerNumber = 4

/** Clusters of the plan whose every stage is ready. */
export const readyClusters = ({ roll }: HostState, plan: Plan): number[] =>
  plan.active.filter((cluster) => roll.clusterIs(plan, cluster, 'ready'))

/**
 * Whether some clusters may begin before the others: in a run under way, where each of their PCs has room for its new
 * stage beside what it goes on giving out. At the first plan everyone has the same to fetch.
 */
export function mayBegin(host: HostState, plan: Plan, clusters: readonly number[]): boolean {
  if (host.from.updates === 0 || clusters.length === 0) return false
  return clusters
    .flatMap((cluster) => plan.layout.clusters[cluster]?.stages ?? [])
    .every(({ peer, memoryBytes }) => memoryBytes + givenBytes(host, peer) <= lentBytes(host, peer))
}

const lentBytes = ({ roll }: HostState, peer: PeerId): Bytes => roll.get(peer)?.device.memoryBytes ?? 0

/** What a PC keeps of the model as it was agreed on, for whoever still takes it. */
function givenBytes({ stock }: HostState, peer: PeerId): Bytes {
  const { layouts, vectors } = stock.model
  const runs = stock.heldBy(peer)
  return runs.reduce((sum, layers) => sum + bytesPerNumber * vectors * lengthOf(layouts, layers), 0)
}

/** Nobody takes numbers any more. Stages of a cluster that does not train must not begin by this. */
export function settle(host: HostState): void {
  const { stock, roll, plan } = host
  stock.close()
  const standsStill = (peer: PeerId) => {
    const cluster = plan === undefined ? undefined : positionOf(plan, peer)?.cluster
    return cluster !== undefined && plan?.active.includes(cluster) === false
  }
  const peers = roll.present.map(({ peer }) => peer).filter((peer) => !standsStill(peer))
  host.broadcast({ type: 'start' }, peers)
}

/** A cluster that never began will not: a PC of it is gone, or needed elsewhere. False where it is none of those. */
export function giveUpLate(host: HostState, peer: PeerId, why: string): boolean {
  const { plan, late, roll } = host
  const cluster = plan === undefined ? undefined : positionOf(plan, peer)?.cluster
  if (plan === undefined || cluster === undefined || !late.delete(cluster)) return false
  roll.mark(
    peersOf(plan, cluster).filter((other) => other !== peer),
    'idle',
    why,
  )
  if (late.size === 0) settle(host)
  return true
}
