/** Dynamic programming over cuts: the shortest round trip of peers in a given order, within limits. */
import type { LayerRange } from '../../../../shared/model/graph.ts'
import type { PoolPeer } from '../../../../shared/plan/pool.ts'
import type { Seconds } from '../../../../shared/units.ts'
import {
  callsPerMicroBatch,
  type CostModel,
  ringBytesPerSecond,
  type Stage,
  transferSeconds,
} from '../cost.ts'

/** What no stage may exceed. */
export interface Limits {
  /** Of any resource, a micro-batch. */
  readonly maxBusy: Seconds
  /** Of averaging: held parameter bytes / the slower of upload and download. */
  readonly maxLoad: Seconds
}

/** What one peer can do at its place in the order, as factors of bytes and FLOPs. */
export interface Capacity {
  readonly memory: number
  readonly computePerFlop: number
  /** The same where it keeps what its backward pass needs, and whether it ever does unless it is the last. */
  readonly keepingComputePerFlop: number
  readonly keeps: boolean
  /** Of a micro-batch, however few layers it holds. */
  readonly callSeconds: Seconds
  readonly loadPerByte: number
  readonly trafficPerByte: number
  /** Of the border to the next peer; all 0 for the last. */
  readonly latency: Seconds
  readonly crossingPerByte: number
  readonly linkPerByte: number
}

export interface ShortestCuts {
  /** Undefined when no cuts keep the limits. Every peer gets at least one layer. */
  within(order: readonly number[], capacities: readonly Capacity[], limits: Limits): Stage[] | undefined
  /** Inner steps taken so far: the search's measure of effort, the same on every machine. */
  steps(): number
}

const at = (values: Float64Array, index: number) => values[index] ?? 0

/** Sums over the layers before each place, and what turns them into memory. */
interface Sums {
  readonly p: Float64Array
  readonly w: Float64Array
  readonly f: Float64Array
  readonly stateFactor: number
  readonly workingFactor: number
  readonly perFlop: PerFlop
}

/** Seconds a FLOP for the peer of a row when it holds places j to k. Longer runs from one place have no smaller one. */
type PerFlop = (row: Row, j: number, k: number) => Seconds

/** The farthest end of a run from place j within what only grows with its length; `from` is known to be within. */
function farthest(
  { p, w, f, stateFactor, workingFactor, perFlop }: Sums,
  row: Row,
  j: number,
  from: number,
): number {
  const { can, limits, lastEnd } = row
  const [p0, w0, f0] = [at(p, j), at(w, j), at(f, j)]
  let k = from
  for (; k < lastEnd; k++) {
    const held = at(p, k + 1) - p0
    if (held * stateFactor + workingFactor * (at(w, k + 1) - w0) > can.memory) break
    if ((at(f, k + 1) - f0) * perFlop(row, j, k + 1) + can.callSeconds > limits.maxBusy) break
    if (held * can.loadPerByte > limits.maxLoad) break
  }
  return k
}

/** @param places - where cuts may fall: layer indices, ascending, with both ends of the model */
export function createShortestCuts(cost: CostModel, places: readonly number[]): ShortestCuts {
  const last = places.length - 1
  const width = places.length
  const pick = (values: Float64Array) => Float64Array.from(places, (place) => at(values, place))
  const [p, w, f, crossing] = [pick(cost.sums.p), pick(cost.sums.w), pick(cost.sums.f), pick(cost.cutBytes)]
  const perFlop = secondsPerFlop(cost, pick, p)
  const workingFactor = cost.profile.microBatch * cost.profile.inFlight
  const grown = { p, w, f, stateFactor: 1 + cost.profile.stateFactor, workingFactor, perFlop }
  /** [row · width + k]: shortest time through the first `row + 1` peers when they end at place k, and where the last began. */
  let shortest = new Float64Array(0)
  let cameFrom = new Int32Array(0)
  let steps = 0

  /** Try every end up to `end` for the peer of a row when it begins at place j, `before` seconds into the trip. */
  function extend(row: Row, j: number, before: Seconds, end: number): void {
    const { trafficPerByte, linkPerByte, crossingPerByte, latency, callSeconds } = row.can
    const { maxBusy } = row.limits
    const crossed = at(crossing, j)
    const begun = at(f, j)
    const cells = row.index * width
    const first = row.isLast ? last : j + 1
    steps += Math.max(1, end - first + 1)
    for (let k = first; k <= end; k++) {
      const out = at(crossing, k)
      if ((crossed + out) * trafficPerByte > maxBusy || out * linkPerByte > maxBusy) continue
      const border = out === 0 ? latency : latency + out * crossingPerByte
      const computing = (at(f, k) - begun) * perFlop(row, j, k) + callSeconds
      const roundTrip = before + computing + border
      if (roundTrip >= at(shortest, cells + k)) continue
      shortest[cells + k] = roundTrip
      cameFrom[cells + k] = j
    }
  }

  function clear(cells: number): void {
    if (shortest.length < cells) {
      shortest = new Float64Array(cells)
      cameFrom = new Int32Array(cells)
    }
    shortest.fill(Infinity, 0, cells)
  }

  return {
    steps: () => steps,
    within(order, capacities, limits) {
      const rows = order.length
      if (rows === 0 || rows > last) return undefined
      clear(rows * width)
      for (const [index, can] of capacities.entries()) {
        // Each peer before and after needs a layer; the last peer ends where the model ends.
        const lastEnd = last - (rows - 1 - index)
        const row = { index, can, limits, lastEnd, isLast: index === rows - 1 }
        const lastStart = index === 0 ? 0 : lastEnd - 1
        let end = index
        for (let j = index; j <= lastStart; j++) {
          const before = index === 0 ? 0 : at(shortest, (index - 1) * width + j)
          if (before === Infinity) continue
          // A later beginning gets at least as far, but for one whose input is too large to be kept.
          end = farthest(grown, row, j, cost.keeping === undefined ? Math.max(end, j) : j)
          extend(row, j, before, end)
        }
      }
      if (at(shortest, rows * width - 1) === Infinity) return undefined
      return followBack(order, cameFrom, places)
    },
  }
}

/** One peer of the order, while its cuts are sought. */
interface Row {
  readonly index: number
  readonly can: Capacity
  readonly limits: Limits
  readonly lastEnd: number
  readonly isLast: boolean
}

/** Seconds a FLOP for the peer of a row when it holds places j to k: the last keeps, others where there is room. */
function secondsPerFlop(cost: CostModel, pick: (values: Float64Array) => Float64Array, p: Float64Array) {
  const { keeping, profile } = cost
  if (keeping === undefined) return ({ can }: Row): Seconds => can.computePerFlop
  const [kept, entry] = [pick(keeping.sums), pick(keeping.entry)]
  const stateFactor = 1 + profile.stateFactor
  const workingFactor = profile.microBatch * profile.inFlight
  return ({ can, isLast }: Row, j: number, k: number): Seconds => {
    if (isLast) return can.keepingComputePerFlop
    if (!can.keeps) return can.computePerFlop
    const keptBytes = workingFactor * (at(entry, j) + at(kept, k) - at(kept, j))
    const fits = (at(p, k) - at(p, j)) * stateFactor + keptBytes <= can.memory
    return fits ? can.keepingComputePerFlop : can.computePerFlop
  }
}

function followBack(order: readonly number[], cameFrom: Int32Array, places: readonly number[]): Stage[] {
  const stages: Stage[] = []
  let to = places.length - 1
  for (let row = order.length - 1; row >= 0; row--) {
    const from = cameFrom[row * places.length + to] ?? 0
    const layers: LayerRange = [places[from] ?? 0, places[to] ?? 0]
    stages.push({ peer: order[row] ?? -1, layers })
    to = from
  }
  return stages.reverse()
}

/** Factors for peers in this order. */
export function capacitiesOf(order: readonly number[], cost: CostModel): Capacity[] {
  const { microBatch, backwardFactor } = cost.profile
  const keepingFactor = cost.keeping?.backwardFactor ?? backwardFactor
  return order.flatMap((place, index): Capacity[] => {
    const peer = cost.pool.peers[place]
    if (peer === undefined) return []
    const perByte = transferSeconds(1, ringBytesPerSecond(peer))
    return [
      {
        memory: peer.memoryBytes,
        computePerFlop: (microBatch * (1 + backwardFactor)) / peer.flopsPerSecond,
        keepingComputePerFlop: (microBatch * (1 + keepingFactor)) / peer.flopsPerSecond,
        keeps: peer.keeps !== false,
        callSeconds: callsPerMicroBatch(cost.profile, index === order.length - 1) * (peer.callSeconds ?? 0),
        loadPerByte: perByte,
        trafficPerByte: perByte,
        ...borderOf(peer, place, order[index + 1], cost),
      },
    ]
  })
}

function borderOf(peer: PoolPeer, place: number, nextPlace: number | undefined, { pool, links }: CostModel) {
  const next = nextPlace === undefined ? undefined : pool.peers[nextPlace]
  if (nextPlace === undefined || next === undefined) return { latency: 0, crossingPerByte: 0, linkPerByte: 0 }
  const link = links.bandwidth(place, nextPlace)
  const forth = Math.min(peer.uploadBytesPerSecond, next.downloadBytesPerSecond, link)
  const back = Math.min(next.uploadBytesPerSecond, peer.downloadBytesPerSecond, link)
  return {
    latency: 2 * links.latency(place, nextPlace),
    crossingPerByte: 1 / forth + 1 / back,
    linkPerByte: 1 / link,
  }
}
