/** From a layout to a plan in force: every number of the schedule decided, and what changes when a cluster drops out. */
import { InvariantError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { Layout, Plan, RingPlan, StagePosition } from '../../../shared/plan/plan.ts'
import { type AssumedSchedule, mostInFlight } from '../model/profile.ts'
import { ringsOf } from '../planner/rings.ts'

/** K of a cluster of so many stages, and A of one that is the deepest, where the recipe does not say. */
export function scheduleOf(depth: number): AssumedSchedule {
  return { inFlight: Math.min(mostInFlight, depth === 1 ? 1 : depth + 1), accumulate: 2 * depth }
}

/**
 * Resolve what the recipe leaves open: A = 2P of the longest cluster keeps staleness below one update
 * (simulated: 2.6 % above synchronous at 2P and prediction, 17.9 % with an update per micro-batch), and
 * K = P + 1 keeps every stage busy while one micro-batch is on the way.
 */
export function planInForce(layout: Layout, recipe: Recipe, number: number): Plan {
  const depths = layout.clusters.map((cluster) => cluster.stages.length)
  const accumulate = recipe.schedule.accumulate ?? scheduleOf(Math.max(...depths)).accumulate
  const most = accumulate * recipe.sync.averageEveryUpdates
  const inFlight = depths.map((depth) =>
    Math.min(most, recipe.schedule.inFlight ?? scheduleOf(depth).inFlight),
  )
  return { number, layout, accumulate, inFlight, active: layout.clusters.map((_, index) => index) }
}

/** Where a peer stands, or undefined for one that holds nothing. */
export function positionOf(plan: Plan, peer: PeerId): StagePosition | undefined {
  for (const [cluster, { stages }] of plan.layout.clusters.entries()) {
    const stage = stages.findIndex((entry) => entry.peer === peer)
    if (stage >= 0) return { cluster, stage }
  }
  return undefined
}

/** The peers of a cluster, root first. */
export function peersOf(plan: Plan, cluster: number): readonly PeerId[] {
  return plan.layout.clusters[cluster]?.stages.map((stage) => stage.peer) ?? []
}

/** Everyone who holds a stage. */
export function planPeers(plan: Plan): readonly PeerId[] {
  return plan.layout.clusters.flatMap(({ stages }) => stages.map((stage) => stage.peer))
}

/** Everyone who holds a stage of an active cluster. */
export function activePeers(plan: Plan): readonly PeerId[] {
  return plan.active.flatMap((cluster) => peersOf(plan, cluster))
}

/** The same layout with other clusters active, under the next number. */
export function withActive(plan: Plan, active: readonly number[]): Plan {
  return { ...plan, number: plan.number + 1, active: [...active] }
}

/** Everyone stands still: the plan only tells where things were. */
export function withoutActive(plan: Plan): Plan {
  return { ...plan, active: [] }
}

/** The plan in force. @throws InvariantError before there is one */
export function planOf({ plan }: { readonly plan: Plan | undefined }): Plan {
  if (plan === undefined) throw new InvariantError('there is no plan yet')
  return plan
}

/** The rings of the active clusters. Every member computes the same, so their order names them on the wire. */
export function ringsInForce({ layout, active }: Plan): readonly RingPlan[] {
  const rings = ringsOf(active.map((cluster) => layout.clusters[cluster]?.stages ?? []))
  return rings.map(({ layers, members }) => ({
    layers: layers.map(([from, to]): [number, number] => [from, to]),
    members,
  }))
}
