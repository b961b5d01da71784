/** The layout of a job, reckoned with the most micro-batches that may be in flight. */
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { DoesNotFit, Layout } from '../../../shared/plan/plan.ts'
import type { Pool } from '../../../shared/plan/pool.ts'
import { profileOf, withFlops } from '../model/profile.ts'
import type { Flops } from '../../../shared/units.ts'
import { planPool } from '../planner/plan-pool.ts'
import { type PreviousClusters, replan } from '../planner/replan.ts'

export interface LayoutRequest {
  readonly pool: Pool
  readonly graph: ModelGraph
  readonly recipe: Recipe
  readonly seed: number
  /** Exactly so many; undefined: the planner's choice. */
  readonly clusters: number | undefined
  /** Who holds what now: nearly the best plan, with as few weights on the way as can be. Absent: the best. */
  readonly previous?: PreviousClusters
  /** Of a sample, a number a layer, as measured; absent: counted by a formula. */
  readonly layerFlops?: readonly Flops[] | undefined
}

/**
 * The plan that `recipe` asks for on `pool`. Clusters of few stages have fewer in flight than is reckoned with, so some of
 * their stages recompute though they had room to keep.
 */
export function layoutOfJob({
  pool,
  graph,
  recipe,
  seed,
  clusters,
  previous,
  layerFlops,
}: LayoutRequest): Layout | DoesNotFit {
  const wish = clusters === undefined ? {} : { clusters }
  const request = { pool, profile: withFlops(profileOf(graph, recipe), layerFlops), seed, ...wish }
  if (previous === undefined) return planPool(request)
  const answer = replan(request, previous)
  return 'feasible' in answer ? answer : answer.layout
}
