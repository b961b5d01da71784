/**
 * A plan begins with its first whole clusters. Those whose numbers are still on their way join them when they are ready, where
 * the others are by then.
 */
import { clusterName } from '../../../../shared/plan/words.ts'
import { noProgress } from '../no-progress.ts'
import { activePeers, peersOf, planOf } from '../plan-in-force.ts'
import { activate } from './drop.ts'
import type { HostState } from './host-state.ts'
import { settle } from './late.ts'
import { holdThosePausing } from './pauses.ts'
import { updatesMade } from './run-report.ts'

/** The plan begins: all of it, or the clusters that are ready. */
export function beginPlan(host: HostState): void {
  const { roll, late } = host
  const plan = planOf(host)
  const inTime = plan.active.filter((cluster) => !late.has(cluster))
  if (late.size > 0) activate(host, inTime, 'others begin while this PC gets ready')
  const begin = activePeers(planOf(host)).filter((peer) => roll.get(peer)?.state !== 'finished')
  roll.mark(begin, 'training')
  if (late.size === 0) settle(host)
  else {
    const names = [...late].map(clusterName).join(' and ')
    host.log.say(`${names} will join when what is on its way there has come`, 'wait')
    host.broadcast({ type: 'start', giving: true }, begin)
    beginLate(host)
  }
}

/** A stage got ready while others train: with the last of its cluster, that trains, too. */
export function beginLate(host: HostState): void {
  const { late, phase, roll } = host
  if (late.size === 0 || (phase !== 'training' && phase !== 'paused')) return
  const plan = planOf(host)
  const ready = [...late].filter((cluster) => roll.clusterIs(plan, cluster, 'ready'))
  for (const cluster of ready) {
    late.delete(cluster)
    startAt(host, cluster, updatesMade(host))
    bringIn(host, cluster, `${clusterName(cluster)} is ready`)
    host.log.say(`${clusterName(cluster)} is ready and joins`)
  }
  if (ready.length > 0 && late.size === 0) settle(host)
}

/** What is known of a late cluster's PCs until their own reports come. */
function startAt({ plan, roll, hosted }: HostState, cluster: number, updates: number): void {
  for (const peer of plan === undefined ? [] : peersOf(plan, cluster)) {
    const entry = roll.get(peer)
    const none = { type: 'progress', job: hosted.job, plan: 0, ...noProgress } as const
    if (entry !== undefined) entry.progress = { ...(entry.progress ?? none), updates }
  }
}

/** A cluster that stood still trains with the others, from as many updates as they have made. */
export function bringIn(host: HostState, cluster: number, reason: string): void {
  const { roll, from } = host
  const plan = planOf(host)
  const made = plan.active.length === 0 ? 0 : Math.max(0, updatesMade(host) - from.updates)
  const unfinished = peersOf(plan, cluster).filter((peer) => roll.get(peer)?.state !== 'finished')
  roll.mark(unfinished, 'training')
  activate(
    host,
    [...plan.active, cluster].sort((a, b) => a - b),
    reason,
  )
  // Stages that have begun before go on as they are.
  host.broadcast({ type: 'start', made, giving: host.late.size > 0 }, unfinished)
  if (host.phase === 'paused') host.enter('training', 'training')
  holdThosePausing(host)
}
