/** Groupings to start a search of a large pool from: packed for many targets of rate and averaging load. */
import { type CostModel, effectiveRate, ringBytesPerSecond, type Stage } from '../cost.ts'
import type { LoadedTeams } from './anneal.ts'
import type { Neighbourhoods } from './neighbourhoods.ts'
import { type Filling, pack, type Target } from './packing.ts'

/** Clusters as they were packed, and what the pool makes with them. */
export interface Founder extends LoadedTeams {
  readonly samplesPerSecond: number
}

interface Attempt {
  readonly founder: Founder
  readonly target: Target
  readonly borders: Neighbourhoods
}

/** How finely targets are tried: the product is the number of packings. */
interface Grid {
  readonly busy: number
  readonly loads: number
  readonly fillings: readonly Filling[]
}

const fine: Grid = { busy: 10, loads: 6, fillings: ['strong', 'mixed'] }
const coarse: Grid = { busy: 8, loads: 5, fillings: ['strong'] }
const mostPeersFine = 256
/** Better targets are sought around so many of the best. */
const refined = 3

/**
 * The best packings for the borders of networks given, best first, each unlike the others in clusters or load.
 *
 * @param borders - ways to draw neighbourhoods; inside them pipelines are packed first
 */
export function founders(
  cost: CostModel,
  everyone: readonly number[],
  borders: readonly Neighbourhoods[],
): Founder[] {
  const grid = everyone.length > mostPeersFine ? coarse : fine
  const attempts: Attempt[] = []
  const attempt = (target: Target, hoods: Neighbourhoods) => {
    const founder = rated(cost, pack(cost, hoods, target), target.maxLoad)
    if (founder !== undefined) attempts.push({ founder, target, borders: hoods })
  }
  for (const hoods of borders) for (const target of targetsOf(cost, everyone, grid)) attempt(target, hoods)
  for (let closer = 1.5; closer > 1.1; closer = Math.sqrt(closer)) {
    for (const { target, borders: hoods } of best(attempts).slice(0, refined)) {
      for (const [busy, load] of [
        [closer, 1],
        [1 / closer, 1],
        [1, closer],
        [1, 1 / closer],
      ] as const)
        attempt({ ...target, maxBusy: target.maxBusy * busy, maxLoad: target.maxLoad * load }, hoods)
    }
  }
  return unlike(best(attempts).map(({ founder }) => founder))
}

function best(attempts: readonly Attempt[]): Attempt[] {
  return attempts.toSorted((a, b) => b.founder.samplesPerSecond - a.founder.samplesPerSecond)
}

/** Of those with as many clusters only the first. */
function unlike(sorted: readonly Founder[]): Founder[] {
  const seen = new Set<number>()
  return sorted.filter(({ orders }) => {
    const isNew = !seen.has(orders.length)
    seen.add(orders.length)
    return isNew
  })
}

/** Without the slowest clusters, where fewer of them average so much quicker. */
function rated(
  cost: CostModel,
  clusters: readonly (readonly Stage[])[],
  maxLoad: number,
): Founder | undefined {
  const costs = clusters.map((stages) => ({ stages, ...cost.clusterCost(stages) }))
  costs.sort((a, b) => b.samplesPerSecond - a.samplesPerSecond)
  const load = costs.reduce((most, each) => Math.max(most, each.averagingLoad), 0)
  const fixed = costs.length < 2 ? 0 : cost.averagingSeconds(clusters, 0) / (2 * (costs.length - 1))
  let found: { count: number; samplesPerSecond: number } | undefined
  for (let count = 1; count <= costs.length; count++) {
    const seconds = count < 2 ? 0 : ((2 * (count - 1)) / count) * load + 2 * (count - 1) * fixed
    const samplesPerSecond = costs
      .slice(0, count)
      .reduce(
        (sum, each) => sum + effectiveRate(each.samplesPerSecond, cost.samplesBetweenAverages, seconds),
        0,
      )
    if (found === undefined || samplesPerSecond > found.samplesPerSecond) found = { count, samplesPerSecond }
  }
  if (found === undefined) return undefined
  const orders = costs.slice(0, found.count).map(({ stages }) => stages.map(({ peer }) => peer))
  return { orders, maxLoad, samplesPerSecond: found.samplesPerSecond }
}

/** From the time of all peers together to the time of a weak one, and from light loads to any. */
function* targetsOf(cost: CostModel, everyone: readonly number[], grid: Grid): Generator<Target> {
  const { pool, profile, sums } = cost
  const layers = profile.layers.length
  const work = profile.microBatch * (1 + profile.backwardFactor) * (sums.f[layers] ?? 0)
  const peers = everyone.flatMap((place) => pool.peers[place] ?? [])
  const speeds = peers.map((peer) => peer.flopsPerSecond).sort((a, b) => a - b)
  const lines = peers.map(ringBytesPerSecond).sort((a, b) => a - b)
  const quickest = work / speeds.reduce((sum, speed) => sum + speed, 0)
  const slowest = Math.max(2 * quickest, (2 * work) / quantile(speeds, 0.1))
  const heaviest = (sums.p[layers] ?? 0) / quantile(lines, 0.2)
  const lightest = (sums.p[layers] ?? 0) / quantile(lines, 0.9) / Math.min(layers, 16)
  const loads = [
    Infinity,
    ...(heaviest > 0 ? between(lightest, Math.max(heaviest, 2 * lightest), grid.loads) : []),
  ]
  for (const filling of grid.fillings) {
    for (const maxLoad of loads)
      for (const maxBusy of between(quickest, slowest, grid.busy)) yield { maxBusy, maxLoad, filling }
  }
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor(part * (sorted.length - 1))] ?? 0
}

/** So many amounts from low to high, each the same factor more. */
function between(low: number, high: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => low * (high / low) ** (index / (count - 1)))
}
