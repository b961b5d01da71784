/**
 * What a careful person would do by hand with a large pool: in every network the fastest PCs first until together they
 * hold the model, what is left over the same way across networks, each cluster cut as well as can be, and the
 * slowest clusters left out as long as the pool gains by it.
 */
import { createCostModel } from '../../../main/core/planner/cost.ts'
import { createCutter } from '../../../main/core/planner/search/cuts.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { poolRate, type PlainStage } from './brute-force.ts'

/** Links quicker than this are inside a network. */
const nearSeconds = 0.005

function networksOf(pool: Pool): number[][] {
  const places = new Map(pool.peers.map(({ id }, place) => [id, place]))
  const network = pool.peers.map((_, place) => place)
  const headOf = (peer: number): number => (network[peer] === peer ? peer : headOf(network[peer]!))
  for (const { between, latencySeconds } of pool.links) {
    if (latencySeconds === undefined || latencySeconds > nearSeconds) continue
    const [a, b] = between.map((id) => headOf(places.get(id)!))
    network[Math.max(a!, b!)] = Math.min(a!, b!)
  }
  const heads = [...new Set(network.map((_, peer) => headOf(peer)))]
  return heads.map((head) => network.flatMap((_, peer) => (headOf(peer) === head ? [peer] : [])))
}

export function greedyPlan(pool: Pool, profile: ModelProfile): PlainStage[][] {
  const cost = createCostModel(pool, profile)
  const layers = profile.layers.length
  const cutter = createCutter(
    cost,
    Array.from({ length: layers + 1 }, (_, place) => place),
  )
  const clusters: PlainStage[][] = []
  const fill = (peers: readonly number[]): number[] => {
    let order: number[] = []
    for (const peer of peers.toSorted(
      (a, b) => pool.peers[b]!.flopsPerSecond - pool.peers[a]!.flopsPerSecond,
    )) {
      order = [...order, peer].slice(-layers)
      const memory = order.reduce((sum, member) => sum + pool.peers[member]!.memoryBytes, 0)
      const cut = memory < cost.memoryBytes([0, layers]) ? undefined : cutter.best(order, Infinity)
      if (cut === undefined) continue
      clusters.push(cut.stages.map(({ peer: held, layers: [from, to] }) => ({ peer: held, from, to })))
      order = []
    }
    return order
  }
  fill(networksOf(pool).flatMap(fill))
  return withoutSlow(clusters, pool, profile)
}

function withoutSlow(all: PlainStage[][], pool: Pool, profile: ModelProfile): PlainStage[][] {
  const sorted = all
    .map((stages) => ({ stages, rate: poolRate(pool, profile, [stages]) }))
    .sort((a, b) => b.rate - a.rate)
    .map(({ stages }) => stages)
  const counts = [
    ...new Set(Array.from({ length: 12 }, (_, step) => Math.ceil(sorted.length * 0.75 ** step))),
  ]
  const rated = counts.map((count) => {
    const clusters = sorted.slice(0, count)
    return { clusters, rate: poolRate(pool, profile, clusters) }
  })
  return rated.sort((a, b) => b.rate - a.rate)[0]?.clusters ?? []
}
