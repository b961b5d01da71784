/** The last touch to a plan: balance inside each cluster, then cuts that suit the rings. */
import type { CostModel, Stage } from '../cost.ts'
import { closeness, type CutCluster, type Cutter } from './cuts.ts'
import type { Scorer } from './score.ts'

/** Moves of a cut that are tried in all; pools of friends need a few hundred. */
const mostMoves = 20_000

/**
 * Clusters of at least the same pool rate. Each cluster was cut by itself, blind to which peers of other clusters
 * its own would share rings with; where far peers slow the averaging, moving single cuts may pair nearer ones.
 */
export function polish(
  clusters: readonly CutCluster[],
  cost: CostModel,
  { cutter, scorer }: { readonly cutter: Cutter; readonly scorer: Scorer },
): readonly CutCluster[] {
  const before = scorer.rate(clusters)
  const balanced = clusters.map((cluster) => cutter.balanced(cluster))
  let best = scorer.rate(balanced) >= before * (1 - closeness) ? balanced : clusters
  const limit = best.reduce((sum, cluster) => sum + cluster.samplesPerSecond, 0)
  if (cost.links.uniformLatency || best.length < 2) return best
  let moves = 0
  for (let improved = true; improved && moves < mostMoves;) {
    improved = false
    for (const moved of movedCuts(best, cost)) {
      const rate = scorer.rate(best)
      if (rate >= limit * (1 - closeness) || ++moves > mostMoves) return best
      if (scorer.rate(moved) <= rate * (1 + closeness)) continue
      best = moved
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
