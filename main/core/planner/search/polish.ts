/** The last touch to a plan: finer cuts, balance inside each cluster, then cuts that suit the rings. */
import type { CostModel, Stage } from '../cost.ts'
import { closeness, createCutter, type CutCluster, mostCutPlaces } from './cuts.ts'
import type { Scorer } from './score.ts'

/** Moves of a cut that are tried in all; pools of friends need a few hundred. */
const mostMoves = 20_000

/** Clusters with the same peers in the same order, and at least the same pool rate. */
export function polish(
  clusters: readonly CutCluster[],
  cost: CostModel,
  scorer: Scorer,
): readonly CutCluster[] {
  const maxLoad = clusters.reduce((largest, cluster) => Math.max(largest, cluster.averagingLoad), 0)
  const finer = clusters.map((cluster) => recut(cluster, cost, maxLoad))
  const best = scorer.rate(finer) >= scorer.rate(clusters) * (1 - closeness) ? finer : clusters
  return cost.links.uniformLatency || best.length < 2 ? best : suitRings(best, cost, scorer)
}

/** The best and best balanced cuts near those that the search found on a coarser grid. */
function recut(cluster: CutCluster, cost: CostModel, maxLoad: number): CutCluster {
  const layers = cost.profile.layers.length
  const reach = layers <= mostCutPlaces ? layers : Math.ceil((2 * layers) / mostCutPlaces)
  const places = new Set([0, layers])
  for (const { layers: run } of cluster.stages) {
    for (let place = Math.max(0, run[1] - reach); place <= Math.min(layers, run[1] + reach); place++)
      places.add(place)
  }
  const cutter = createCutter(
    cost,
    [...places].sort((a, b) => a - b),
  )
  const order = cluster.stages.map((stage) => stage.peer)
  return cutter.balanced(cutter.best(order, maxLoad) ?? cluster, maxLoad)
}

/**
 * Each cluster was cut by itself, blind to which peers of other clusters its own would share rings with. Where far
 * peers slow the averaging, moving single cuts may pair nearer ones.
 */
function suitRings(clusters: readonly CutCluster[], cost: CostModel, scorer: Scorer): readonly CutCluster[] {
  const limit = clusters.reduce((sum, cluster) => sum + cluster.samplesPerSecond, 0)
  let best = clusters
  let rate = scorer.rate(best)
  let moves = 0
  for (let improved = true; improved;) {
    improved = false
    for (const moved of movedCuts(best, cost)) {
      if (rate >= limit * (1 - closeness) || ++moves > mostMoves) return best
      const movedRate = scorer.rate(moved)
      if (movedRate <= rate * (1 + closeness)) continue
      best = moved
      rate = movedRate
      improved = true
      break
    }
  }
  return best
}

/** All clusterings that differ by the place of one cut. */
function* movedCuts(clusters: readonly CutCluster[], cost: CostModel): Generator<readonly CutCluster[]> {
  for (const [at, cluster] of clusters.entries()) {
    for (const stages of movedOnce(cluster.stages)) {
      if (stages.every((stage) => holds(stage, cost)))
        yield clusters.with(at, { stages, ...cost.clusterCost(stages) })
    }
  }
}

function* movedOnce(stages: readonly Stage[]): Generator<readonly Stage[]> {
  for (const [index, left] of stages.entries()) {
    const right = stages[index + 1]
    if (right === undefined) return
    for (let cut = left.layers[0] + 1; cut < right.layers[1]; cut++) {
      if (cut === left.layers[1]) continue
      yield stages
        .with(index, { peer: left.peer, layers: [left.layers[0], cut] })
        .with(index + 1, { peer: right.peer, layers: [cut, right.layers[1]] })
    }
  }
}

function holds({ peer, layers }: Stage, cost: CostModel): boolean {
  return cost.memoryBytes(layers) <= (cost.pool.peers[peer]?.memoryBytes ?? 0)
}
