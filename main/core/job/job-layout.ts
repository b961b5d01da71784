/** The layout of a job: searched for with the most that may be in flight, then figured with what its clusters will have. */
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { DoesNotFit, Layout } from '../../../shared/plan/plan.ts'
import type { Pool } from '../../../shared/plan/pool.ts'
import { profileOf } from '../model/profile.ts'
import { planFigures } from '../planner/plan-figures.ts'
import { planPool } from '../planner/plan-pool.ts'
import { scheduleOf } from './plan-in-force.ts'

export interface LayoutRequest {
  readonly pool: Pool
  readonly graph: ModelGraph
  readonly recipe: Recipe
  readonly seed: number
  /** Exactly so many; undefined: the planner's choice. */
  readonly clusters: number | undefined
}

/**
 * How deep the clusters are is known after the search alone, and with it how many micro-batches are in flight. Fewer
 * than were reckoned with take less memory: more stages can keep what their backward passes need.
 */
export function layoutOfJob({ pool, graph, recipe, seed, clusters }: LayoutRequest): Layout | DoesNotFit {
  const wish = clusters === undefined ? {} : { clusters }
  const found = planPool({ pool, profile: profileOf(graph, recipe), seed, ...wish })
  if ('feasible' in found) return found
  const deepest = Math.max(...found.clusters.map(({ stages }) => stages.length))
  const profile = profileOf(graph, recipe, scheduleOf(deepest))
  const stages = found.clusters.map((cluster) => cluster.stages)
  return { ...planFigures(pool, profile, stages), unused: found.unused }
}
