/** The largest latency between two peers of one ring: what each step of an averaging round waits for. */
import type { LayerRange } from '../../../shared/model/graph.ts'
import type { Seconds } from '../../../shared/units.ts'
import type { LinkTable } from './link-table.ts'
import type { Held } from './rings.ts'

type Clusters = readonly (readonly Held<number>[])[]

/** Up to so many peers, all pairs are ranked once, and the first of them that sits in a ring is the answer. */
const mostPeersRanked = 256

/** @returns for clusters that each hold the whole model: the answer; of peers by place in the pool */
export function createRingLatency(peers: number, links: LinkTable): (clusters: Clusters) => Seconds {
  if (links.uniformLatency) return () => links.largestLatency
  if (peers > mostPeersRanked) return (clusters) => compareAll(clusters, links)
  const pairs = rankedPairs(peers, links)
  const clusterAt = new Int32Array(peers)
  const from = new Int32Array(peers)
  const to = new Int32Array(peers)
  const sitTogether = (a: number, b: number) =>
    clusterAt[a] !== clusterAt[b] && overlap([from[a] ?? 0, to[a] ?? 0], [from[b] ?? 0, to[b] ?? 0])

  return (clusters) => {
    // Peers without layers overlap with nobody.
    from.fill(0)
    to.fill(0)
    for (const [index, stages] of clusters.entries()) {
      for (const { peer, layers } of stages) {
        clusterAt[peer] = index
        from[peer] = layers[0]
        to[peer] = layers[1]
      }
    }
    const farthest = pairs.find(([a, b]) => sitTogether(a, b))
    return farthest === undefined ? 0 : links.latency(...farthest)
  }
}

function rankedPairs(peers: number, links: LinkTable): [number, number][] {
  const pairs: [number, number][] = []
  for (let a = 0; a < peers; a++) for (let b = a + 1; b < peers; b++) pairs.push([a, b])
  return pairs.sort((one, other) => links.latency(...other) - links.latency(...one))
}

function compareAll(clusters: Clusters, links: LinkTable): Seconds {
  let largest = 0
  for (const [index, stages] of clusters.entries()) {
    for (const others of clusters.slice(index + 1))
      largest = Math.max(largest, compareTwo(stages, others, links))
  }
  return largest
}

/** Two peers sit in one ring exactly when they are in different clusters and share a layer. */
function compareTwo(stages: Clusters[number], others: Clusters[number], links: LinkTable): Seconds {
  let largest = 0
  for (const one of stages) {
    for (const other of others) {
      if (overlap(one.layers, other.layers)) largest = Math.max(largest, links.latency(one.peer, other.peer))
    }
  }
  return largest
}

function overlap(one: LayerRange, other: LayerRange): boolean {
  return one[0] < other[1] && other[0] < one[1]
}
