/** The largest latency between two peers of one ring: what each step of an averaging round waits for. */
import type { LayerRange } from '../../../shared/model/graph.ts'
import type { Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'
import type { LinkTable } from './link-table.ts'
import type { Held } from './rings.ts'

type Clusters = readonly (readonly Held<number>[])[]
type Pair = readonly [number, number]

/** Up to so many peers all pairs are ranked once, and the first that sits in a ring is the answer. */
const mostPeersRanked = 256

/** @returns the answer for clusters that each hold the whole model, their peers by place in the pool */
export function createRingLatency(pool: Pool, links: LinkTable): (clusters: Clusters) => Seconds {
  if (links.uniformLatency) return () => links.largestLatency
  const usual = pool.defaultLatencySeconds
  const all = pool.peers.length <= mostPeersRanked
  const ranked = (
    all ? allPairs(pool.peers.length) : links.known.filter((pair) => links.latency(...pair) > usual)
  ).toSorted((one, other) => links.latency(...other) - links.latency(...one))
  const findFarthest = createFinder(pool.peers.length, ranked)

  return (clusters) => {
    const farthest = findFarthest(clusters)
    if (farthest !== undefined) return links.latency(...farthest)
    if (all) return 0
    // No ring has a known slow pair. Each two clusters share a ring somewhere: more pairs than are known, so an unknown one.
    const ringPairs = (clusters.length * (clusters.length - 1)) / 2
    return ringPairs > links.known.length ? usual : compareAll(clusters, links)
  }
}

function allPairs(peers: number): Pair[] {
  const pairs: Pair[] = []
  for (let a = 0; a < peers; a++) for (let b = a + 1; b < peers; b++) pairs.push([a, b])
  return pairs
}

/** Finds the first of the pairs that sits in one ring: in different clusters, with a layer in common. */
function createFinder(peers: number, pairs: readonly Pair[]): (clusters: Clusters) => Pair | undefined {
  const clusterAt = new Int32Array(peers)
  const from = new Int32Array(peers)
  const to = new Int32Array(peers)
  const sitTogether = ([a, b]: Pair) =>
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
    return pairs.find(sitTogether)
  }
}

function compareAll(clusters: Clusters, links: LinkTable): Seconds {
  let largest = 0
  for (const [index, stages] of clusters.entries()) {
    for (const others of clusters.slice(index + 1))
      largest = Math.max(largest, compareTwo(stages, others, links))
  }
  return largest
}

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
