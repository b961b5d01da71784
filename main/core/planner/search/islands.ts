/**
 * Islands: several groupings are improved side by side, each from a founder of its own. The worst give way to children
 * of the best, until the last effort goes into the best alone.
 */
import { nextInt } from '../../../../shared/random.ts'
import { anneal, type AnnealGround, type LoadedTeams } from './anneal.ts'
import type { CutCluster, Wish } from './cuts.ts'
import type { Order } from './moves.ts'
import { capOf, type RoundCost } from './teams.ts'

export interface IslandGround extends AnnealGround {
  /** The pool's rate with exactly these clusters. */
  readonly rate: (clusters: readonly CutCluster[]) => number
  readonly mostSteps: number
}

/** A grouping with its cuts, and what the pool makes with it. */
interface Island extends LoadedTeams {
  readonly clusters: readonly CutCluster[]
  readonly samplesPerSecond: number
}

/** Islands that are improved in each age, the part of all effort that an age gets, and its temperature. */
const ages = [
  { islands: 6, part: 0.2, warmth: 0.05 },
  { islands: 4, part: 0.2, warmth: 0.05 },
  { islands: 3, part: 0.2, warmth: 0.03 },
  { islands: 2, part: 0.2, warmth: 0.02 },
  { islands: 1, part: 0.2, warmth: 0.01 },
] as const

/** Other averaging loads that an island tries before it is improved, as factors of its own. */
const otherLoads = [0.5, 0.7, 0.85, 1.2, 1.5, 2.2]

/** The best grouping found, with its cuts; `starts` are sorted, the best first. */
export function searchIslands(ground: IslandGround, starts: readonly LoadedTeams[]): readonly CutCluster[] {
  let islands = starts.slice(0, ages[0].islands).map((start) => settle(ground, start))
  for (const { islands: count, part, warmth } of ages) {
    islands = sorted(islands).slice(0, count)
    const mostSteps = (part * ground.mostSteps) / Math.max(1, islands.length)
    const improved = islands.map((island) => improve(ground, island, { mostSteps, warmth }))
    const child = crossed(ground, sorted(improved))
    islands = child === undefined ? improved : [...improved, child]
  }
  return sorted(islands)[0]?.clusters ?? []
}

function sorted(islands: readonly Island[]): Island[] {
  return islands.toSorted((a, b) => b.samplesPerSecond - a.samplesPerSecond)
}

/** The better of an island as it is and after some effort. */
function improve(
  ground: IslandGround,
  island: Island,
  { mostSteps, warmth }: { mostSteps: number; warmth: number },
): Island {
  const begun = ground.cutter.steps()
  const start = atBestLoad(ground, island)
  const left = mostSteps - (ground.cutter.steps() - begun)
  const round = roundOf(ground, start.clusters)
  const settings = { mostSteps: Math.max(left, mostSteps / 4), warmth, round }
  const found = settle(ground, anneal(ground, start, settings))
  return found.samplesPerSecond > start.samplesPerSecond ? found : start
}

function atBestLoad(ground: IslandGround, island: Island): Island {
  if (island.clusters.length < 2) return island
  return otherLoads.reduce((best, factor) => {
    const other = settle(ground, { orders: island.orders, maxLoad: island.maxLoad * factor })
    return other.samplesPerSecond > best.samplesPerSecond ? other : best
  }, island)
}

/** Cut under its load and rated exactly, without clusters that the pool is better without. */
function settle(ground: IslandGround, { orders, maxLoad }: LoadedTeams): Island {
  const wish = wishFor(ground, orders, maxLoad)
  let clusters = orders.flatMap((order) => ground.cutter.best(order, maxLoad, wish) ?? [])
  let samplesPerSecond = ground.rate(clusters)
  for (let isBetter = clusters.length > 1; isBetter;) {
    const rest = clusters.toSpliced(indexOfSlowest(clusters), 1)
    const rate = ground.rate(rest)
    isBetter = rate > samplesPerSecond && rest.length > 0
    if (!isBetter) break
    clusters = rest
    samplesPerSecond = rate
  }
  const load = clusters.reduce((most, cluster) => Math.max(most, cluster.averagingLoad), 0)
  return {
    clusters,
    samplesPerSecond,
    orders: clusters.map(({ stages }) => stages.map(({ peer }) => peer)),
    maxLoad: clusters.length < 2 ? Infinity : load,
  }
}

/** Of many clusters, rates far beyond what averaging leaves need not be known. */
function wishFor({ cost }: IslandGround, orders: readonly Order[], maxLoad: number): Wish {
  const few = orders.length < 16 || maxLoad === Infinity
  // Averaging may turn out twice as quick: loads stay below their limit.
  return { least: 0, enough: few ? Infinity : 4 * capOf(cost, orders.length, { load: maxLoad, latency: 0 }) }
}

function roundOf({ cost }: IslandGround, clusters: readonly CutCluster[]): RoundCost {
  const count = clusters.length
  const stages = clusters.map((cluster) => cluster.stages)
  return {
    load: clusters.reduce((most, cluster) => Math.max(most, cluster.averagingLoad), 0),
    latency: count < 2 ? 0 : cost.averagingSeconds(stages, 0) / (2 * (count - 1)),
  }
}

function indexOfSlowest(clusters: readonly CutCluster[]): number {
  return clusters.reduce(
    (slowest, { samplesPerSecond }, index) =>
      samplesPerSecond < (clusters[slowest]?.samplesPerSecond ?? 0) ? index : slowest,
    0,
  )
}

/** About half the clusters of one parent, and those of the other without the peers already taken. */
function crossed(ground: IslandGround, [one, ...others]: readonly Island[]): Island | undefined {
  const other = others[nextInt(ground.rng, others.length)]
  if (one === undefined || other === undefined || one.orders.length < 2) return undefined
  const kept = one.orders.filter(() => ground.rng.next() < 0.5)
  const taken = new Set(kept.flat())
  const rest = other.orders.map((order) => order.filter((peer) => !taken.has(peer)))
  const orders = [...kept, ...rest.filter((order) => order.length > 0)]
  return settle(ground, { orders, maxLoad: Math.max(one.maxLoad, other.maxLoad) })
}
