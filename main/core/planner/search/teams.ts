/** Rates of clusters under one averaging load, each found once and no more exactly than is asked for. */
import { type CostModel, effectiveRate } from '../cost.ts'
import type { Cutter } from './cuts.ts'
import type { Order } from './moves.ts'

export interface TeamRates {
  /** Samples a second at the best cuts, or a rate beyond enough; undefined: less than `least`, or no cuts at all. */
  of(order: Order, least: number): number | undefined
  /** No cuts have a larger rate. */
  bound(order: Order): number
}

export interface TeamLimits {
  readonly maxLoad: number
  /** Samples a second beyond which differences do not matter. */
  readonly enough: number
}

/** Beyond so many remembered rates all are forgotten. */
const mostRemembered = 100_000

export function createTeamRates(cost: CostModel, cutter: Cutter, { maxLoad, enough }: TeamLimits): TeamRates {
  /** A rate, or minus one that is not reached. */
  const remembered = new Map<string, number>()
  const { peers } = cost.pool
  const layers = cost.profile.layers.length
  const needed = cost.memoryBytes([0, layers])
  const { backwardFactor, keepingBackwardFactor = backwardFactor } = cost.profile
  const work = (1 + Math.min(backwardFactor, keepingBackwardFactor)) * (cost.sums.f[layers] ?? 0)
  const lent = (order: Order) => order.reduce((sum, peer) => sum + (peers[peer]?.memoryBytes ?? 0), 0)
  const canHold = (order: Order) => order.length <= layers && lent(order) >= needed

  return {
    bound: (order) =>
      (cost.presence(order) * order.reduce((sum, peer) => sum + (peers[peer]?.flopsPerSecond ?? 0), 0)) /
      work,
    of(order, least) {
      const key = order.join()
      const known = remembered.get(key)
      if (known !== undefined && (known >= 0 || -known <= least)) return known < least ? undefined : known
      const found = canHold(order) ? cutter.best(order, maxLoad, { least, enough }) : undefined
      if (remembered.size >= mostRemembered) remembered.clear()
      remembered.set(key, found?.samplesPerSecond ?? -least)
      return found?.samplesPerSecond
    },
  }
}

/** Of an averaging round: the largest load of a peer, and the largest latency within a ring. */
export interface RoundCost {
  readonly load: number
  readonly latency: number
}

/** The most samples a second that averaging leaves each of so many clusters. */
export function capOf(cost: CostModel, clusters: number, { load, latency }: RoundCost): number {
  if (clusters < 2) return Infinity
  const seconds = ((2 * (clusters - 1)) / clusters) * load + 2 * (clusters - 1) * latency
  return effectiveRate(Infinity, cost.samplesBetweenAverages, seconds)
}
