/**
 * The best cuts for peers in a given order: which contiguous run of layers each of them holds.
 *
 * A cluster's rate is b·min(1/T, K/R). For a bound X on T, dynamic programming finds the smallest R; a rate of b/X
 * is possible exactly when that R is at most K·X. So a search over X alone is exact: every step either finds better
 * cuts or proves a bound.
 */
import type { Seconds } from '../../../../shared/units.ts'
import type { ClusterCost, CostModel, Stage } from '../cost.ts'
import { capacitiesOf, createShortestCuts, type Limits } from './shortest-cuts.ts'

/** Cuts with what they cost. */
export interface CutCluster extends ClusterCost {
  readonly stages: readonly Stage[]
}

/** Rates between which cuts are of interest, in samples a second. */
export interface Wish {
  /** Undefined where no cuts reach it. */
  readonly least: number
  /** Beyond it no better cuts are sought. */
  readonly enough: number
}

const anyRate: Wish = { least: 0, enough: Infinity }

export interface Cutter {
  /**
   * Cuts of the largest rate for peers in this order, each with at least one layer, none above its memory, and
   * none with an averaging load above the limit. Undefined when there are none.
   */
  best(order: readonly number[], maxLoad: Seconds, wish?: Wish): CutCluster | undefined
  /** Of cuts with the same rate and no larger load, those whose busiest resource is least busy. */
  balanced(cluster: CutCluster, maxLoad: Seconds): CutCluster
  /** Inner steps taken so far: the search's measure of effort, the same on every machine. */
  steps(): number
}

/** Times and rates this close (relative) are one: what differs is rounding. */
export const closeness = 1e-9

/** Deeper models are cut only at so many places while groupings are sought, and anywhere near once they are found. */
export const mostCutPlaces = 48

/** @param places - where cuts may fall: layer indices, ascending, with both ends of the model */
export function createCutter(cost: CostModel, places: readonly number[]): Cutter {
  const shortest = createShortestCuts(cost, places)
  const { inFlight } = cost.profile

  /** Seconds a micro-batch at full rate: max(T, R/K). */
  const period = (cluster: ClusterCost) =>
    Math.max(cluster.busiestSeconds, cluster.roundTripSeconds / inFlight)

  function finderFor(order: readonly number[]) {
    const capacities = capacitiesOf(order, cost)
    return (limits: Limits): CutCluster | undefined => {
      const stages = shortest.within(order, capacities, limits)
      return stages === undefined ? undefined : { stages, ...cost.clusterCost(stages) }
    }
  }

  return {
    steps: () => shortest.steps(),

    best(order, maxLoad, { least, enough } = anyRate) {
      const find = finderFor(order)
      // What it makes while all are there, for what is wished in the long run.
      const samples = cost.profile.microBatch * cost.presence(order)
      const longest = samples / least
      let best = find({ maxBusy: longest, maxLoad })
      if (best === undefined || period(best) > longest * (1 + closeness)) return undefined
      // No cuts are quicker than the shortest round trip allows, and none need be quicker than asked for.
      let proven = Math.max(best.roundTripSeconds / inFlight, samples / enough)
      for (let half = false; proven < period(best) * (1 - closeness); half = !half) {
        // In turn: is there anything better at all, and is there anything in the better half?
        const maxBusy = half ? (proven + period(best)) / 2 : period(best) * (1 - closeness)
        const found = find({ maxBusy, maxLoad })
        if (found === undefined || found.roundTripSeconds / inFlight > maxBusy) proven = maxBusy
        if (found !== undefined && period(found) < period(best)) best = found
      }
      return best
    },

    balanced(cluster, maxLoad) {
      const find = finderFor(cluster.stages.map((stage) => stage.peer))
      const longest = period(cluster) * inFlight * (1 + closeness)
      let best = cluster
      let proven = 0
      for (let half = false; proven < best.busiestSeconds * (1 - closeness); half = !half) {
        const maxBusy = half ? (proven + best.busiestSeconds) / 2 : best.busiestSeconds * (1 - closeness)
        const found = find({ maxBusy, maxLoad })
        if (found === undefined || found.roundTripSeconds > longest) proven = maxBusy
        else best = found
      }
      return best
    },
  }
}
