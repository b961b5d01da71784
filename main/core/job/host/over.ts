/** Whether a run has come to its end. */
import { planOf } from '../plan-in-force.ts'
import type { HostState } from './host-state.ts'

/** Every cluster that trains has drained and made its last round; or nobody trains, and the host wants an end. */
export function isOver(host: HostState): boolean {
  const plan = planOf(host)
  if (plan.active.length === 0) return host.finishing && host.held.size === 0
  return plan.active.every((cluster) => host.roll.clusterIs(plan, cluster, 'finished'))
}
