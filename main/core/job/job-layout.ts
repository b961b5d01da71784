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

/** Up to so many clusters, every smaller number is tried. */
const fewClusters = 4
/** Where the slowest cluster costs the job less, it is not worth another search. */
const evenEnough = 0.9

/**
 * Samples a second over a whole job: its clusters make as many updates each, so the slowest decides how long it takes.
 *
 * @param rates - samples a second of each cluster
 */
export const jobRate = (rates: readonly number[]): number =>
  rates.length === 0 ? 0 : rates.length * Math.min(...rates)

const ratesOf = ({ clusters }: Layout) => clusters.map(({ samplesPerSecond }) => samplesPerSecond)
const rateOf = (layout: Layout) => jobRate(ratesOf(layout))

/**
 * The plan that `recipe` asks for on `pool`. Clusters of few stages have fewer in flight than is reckoned with, so some of
 * their stages recompute though they had room to keep.
 */
export function layoutOfJob(request: LayoutRequest): Layout | DoesNotFit {
  const best = searched(request)
  if (request.clusters !== undefined || 'feasible' in best) return best
  return moreEven(best, (clusters) => searched({ ...request, clusters }))
}

function searched({
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

/**
 * The planner counts what all clusters train together, and a slow PC on its own adds to that. To a job it may be a
 * burden: fewer clusters, with that PC in one of them or in none, may be done much sooner.
 */
function moreEven(best: Layout, planFor: (clusters: number) => Layout | DoesNotFit): Layout {
  let chosen = best
  for (const clusters of fewerClusters(ratesOf(best))) {
    const found = planFor(clusters)
    if (!('feasible' in found) && rateOf(found) > rateOf(chosen)) chosen = found
  }
  if (chosen === best) return best
  const had = new Set(best.clusters.flatMap(({ stages }) => stages.map(({ peer }) => peer)))
  const unused = chosen.unused.map(({ peer, reason }) => ({
    peer,
    reason: had.has(peer) ? 'the others would have to wait for it' : reason,
  }))
  return { ...chosen, unused }
}

/** What to try; nothing where the clusters are about as fast as each other. */
function fewerClusters(rates: readonly number[]): number[] {
  const sum = rates.reduce((total, rate) => total + rate, 0)
  if (jobRate(rates) >= evenEnough * sum) return []
  if (rates.length <= fewClusters) return Array.from({ length: rates.length - 1 }, (_, index) => index + 1)
  const fastest = rates.toSorted((a, b) => b - a)
  const rateOfFirst = (count: number) => jobRate(fastest.slice(0, count))
  const counts = Array.from({ length: rates.length - 1 }, (_, index) => index + 1)
  return [counts.reduce((most, count) => (rateOfFirst(count) > rateOfFirst(most) ? count : most))]
}
