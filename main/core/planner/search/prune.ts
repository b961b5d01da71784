/** Peers that a plan is no slower without: they are better idle, or free for others. */
import { closeness, type CutCluster, type Cutter } from './cuts.ts'

interface PruneGround {
  readonly cutter: Cutter
  /** The pool's rate with exactly these clusters. */
  readonly rate: (clusters: readonly CutCluster[]) => number
}

/** The same clusters with as few stages as keep the pool's rate. */
export function prune(clusters: readonly CutCluster[], { cutter, rate }: PruneGround): readonly CutCluster[] {
  const maxLoad = clusters.reduce((most, cluster) => Math.max(most, cluster.averagingLoad), 0)
  const needed = rate(clusters) * (1 - closeness)
  let kept = clusters
  for (const index of clusters.keys()) {
    for (let isShorter = true; isShorter;) {
      isShorter = false
      for (const cluster of shortened(kept[index], cutter, clusters.length < 2 ? Infinity : maxLoad)) {
        const fewer = kept.with(index, cluster)
        if (rate(fewer) < needed) continue
        kept = fewer
        isShorter = true
        break
      }
    }
  }
  return kept
}

/** A cluster without one of its peers, each in turn. */
function* shortened(cluster: CutCluster | undefined, cutter: Cutter, maxLoad: number): Generator<CutCluster> {
  const order = cluster?.stages.map(({ peer }) => peer) ?? []
  if (order.length < 2) return
  for (const peer of order) {
    const shorter = cutter.best(
      order.filter((member) => member !== peer),
      maxLoad,
    )
    if (shorter !== undefined) yield shorter
  }
}
