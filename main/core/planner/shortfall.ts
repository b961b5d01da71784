/**
 * How much memory a pool lacks for one cluster to hold the model, and who would hold what.
 *
 * A shortfall is Σ max(0, needed − lent) over the peers of a cluster: growing exactly these budgets makes it fit.
 * Peers may hold nothing. An additional peer never lacks less than its neighbour growing by the same layers, so
 * the least shortfall is over contiguous runs on the pool's own peers; it equals all needed bytes minus the most
 * that can be covered, Σ min(needed, lent), which dynamic programming maximises.
 */
import { nextInt, type Rng } from '../../../shared/random.ts'
import type { Bytes } from '../../../shared/units.ts'
import type { CostModel, Stage } from './cost.ts'

export interface Shortfall {
  /** 0: the stages fit. Exact up to `mostPeersExact` peers, for more an amount that is enough. */
  readonly missingBytes: Bytes
  /** Runs that tile the model, with that shortfall; none when there is no peer. */
  readonly stages: readonly Stage[]
}

const mostPeersExact = 12
const mostCells = 4_000_000
const mostOrderSteps = 20_000_000

/** The most bytes covered of layers [0, k), for each k, and where the last peer's run began (k: it holds nothing). */
interface Cover {
  readonly covered: Float64Array
  readonly from: Int32Array
}

/** @param everyone - peers that could hold a stage, by place in the pool */
export function leastShortfall(cost: CostModel, everyone: readonly number[], rng: Rng): Shortfall {
  const layers = cost.profile.layers.length
  const memory = (peer: number) => cost.pool.peers[peer]?.memoryBytes ?? 0
  // A cluster has at most a peer a layer, and a larger peer holds whatever a smaller one does.
  const ranked = everyone.toSorted((a, b) => memory(b) - memory(a) || a - b).slice(0, layers)
  const [largest] = ranked
  const all = cost.memoryBytes([0, layers])
  if (largest === undefined) return { missingBytes: all, stages: [] }
  if (all <= memory(largest)) return { missingBytes: 0, stages: [{ peer: largest, layers: [0, layers] }] }
  const exact = ranked.length <= mostPeersExact && 2 ** ranked.length * layers <= mostCells
  const stages = exact ? bestOfSubsets(cost, ranked) : bestOfOrders(cost, ranked, rng)
  return { missingBytes: missingIn(cost, stages), stages }
}

function missingIn(cost: CostModel, stages: readonly Stage[]): Bytes {
  return stages.reduce((sum, { peer, layers }) => {
    const lent = cost.pool.peers[peer]?.memoryBytes ?? 0
    return sum + Math.max(0, cost.memoryBytes(layers) - lent)
  }, 0)
}

/**
 * Cover with one more peer. For an end k the best beginning is one of two: the longest run that the peer holds
 * whole, or one layer more, which fills it. (Covered bytes grow by at most a layer's need, so shorter runs lose.)
 */
function coverWith(cost: CostModel, before: Float64Array, lent: Bytes): Cover {
  const covered = before.slice()
  const from = Int32Array.from(before, (_, k) => k)
  const offer = (k: number, begin: number, bytes: Bytes) => {
    if (begin < 0 || bytes <= at(covered, k)) return
    covered[k] = bytes
    from[k] = begin
  }
  let begin = 0
  for (let k = 1; k < before.length; k++) {
    while (begin < k && cost.memoryBytes([begin, k]) > lent) begin++
    offer(k, begin, at(before, begin) + cost.memoryBytes([begin, k]))
    offer(k, begin - 1, at(before, begin - 1) + lent)
  }
  return { covered, from }
}

function at(values: Float64Array, index: number): number {
  return values[index] ?? 0
}

/** The best cover by all peers of a set, and which of them comes last, for each end. */
interface SetCover extends Cover {
  readonly last: Int8Array
}

/** Exact: the best cover by every set of peers. Bit i of a set's number stands for peer i. */
function bestOfSubsets(cost: CostModel, peers: readonly number[]): Stage[] {
  const width = cost.profile.layers.length + 1
  const covers: SetCover[] = [emptyCover(width, 0)]
  for (let set = 1; set < 2 ** peers.length; set++) {
    const best = emptyCover(width, -1)
    for (const [index, peer] of peers.entries()) {
      const others = (set & (1 << index)) === 0 ? undefined : covers[set ^ (1 << index)]
      if (others === undefined) continue
      const lent = cost.pool.peers[peer]?.memoryBytes ?? 0
      keepBetter(best, coverWith(cost, others.covered, lent), index)
    }
    covers.push(best)
  }
  return followBack(covers, peers)
}

function followBack(covers: readonly SetCover[], peers: readonly number[]): Stage[] {
  const stages: Stage[] = []
  let set = covers.length - 1
  let cover = covers[set]
  let to = (cover?.from.length ?? 1) - 1
  while (cover !== undefined && set > 0) {
    const begin = cover.from[to] ?? 0
    const index = cover.last[to] ?? 0
    if (begin < to) stages.push({ peer: peers[index] ?? -1, layers: [begin, to] })
    to = begin
    set ^= 1 << index
    cover = covers[set]
  }
  return tiled(stages.reverse())
}

function emptyCover(width: number, bytes: Bytes): SetCover {
  return {
    covered: new Float64Array(width).fill(bytes),
    from: new Int32Array(width),
    last: new Int8Array(width),
  }
}

function keepBetter(best: SetCover, found: Cover, last: number): void {
  for (const [k, bytes] of found.covered.entries()) {
    if (bytes <= at(best.covered, k)) continue
    best.covered[k] = bytes
    best.from[k] = found.from[k] ?? 0
    best.last[k] = last
  }
}

/** Good: the best cover of many orders, from the largest peer to the smallest on. */
function bestOfOrders(cost: CostModel, peers: readonly number[], rng: Rng): Stage[] {
  const least = Math.max(
    0,
    cost.memoryBytes([0, cost.profile.layers.length]) -
      peers.reduce((sum, peer) => sum + (cost.pool.peers[peer]?.memoryBytes ?? 0), 0),
  )
  const tries = Math.min(400, Math.ceil(mostOrderSteps / (peers.length * cost.profile.layers.length)))
  let order = peers
  let stages = bestOfOrder(cost, order)
  let missing = missingIn(cost, stages)
  for (let turn = 0; turn < tries && missing > least; turn++) {
    const moved = nextInt(rng, order.length)
    const changed = order.toSpliced(moved, 1).toSpliced(nextInt(rng, order.length), 0, order[moved] ?? -1)
    const found = bestOfOrder(cost, changed)
    const foundMissing = missingIn(cost, found)
    if (foundMissing > missing) continue
    order = changed
    stages = found
    missing = foundMissing
  }
  return stages
}

function bestOfOrder(cost: CostModel, order: readonly number[]): Stage[] {
  let covered = new Float64Array(cost.profile.layers.length + 1)
  const begins = order.map((peer) => {
    const next = coverWith(cost, covered, cost.pool.peers[peer]?.memoryBytes ?? 0)
    covered = new Float64Array(next.covered)
    return next.from
  })
  const stages: Stage[] = []
  let to = covered.length - 1
  for (let index = order.length - 1; index >= 0; index--) {
    const from = begins[index]?.[to] ?? 0
    if (from < to) stages.push({ peer: order[index] ?? -1, layers: [from, to] })
    to = from
  }
  return tiled(stages.reverse())
}

/** Layers before the first run that nobody covers are the first peer's, too: it lacks no more than their need. */
function tiled(stages: Stage[]): Stage[] {
  const [first, ...rest] = stages
  return first === undefined ? [] : [{ peer: first.peer, layers: [0, first.layers[1]] }, ...rest]
}
