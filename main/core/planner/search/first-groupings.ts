/** Sensible groupings to start a search from: what a person would try first. */
import type { CostModel } from '../cost.ts'
import type { Candidate, Candidates } from './candidates.ts'
import type { Grouping } from './variation.ts'

interface Ground {
  readonly cost: CostModel
  readonly candidates: Candidates
  /** Peers that may form clusters, by place in the pool. */
  readonly everyone: readonly number[]
}

/** Singles, greedy fills and dealt teams, each from several ways to rank the peers. Some may hold no cluster that can train. */
export function firstGroupings(ground: Ground): Grouping[] {
  const alone = singles(ground)
  const solo = new Set(alone.flatMap((candidate) => candidate.order))
  const groupings: Grouping[] = [alone]
  for (const whole of rankingsOf(ground)) {
    for (const share of shares) {
      const ranking = whole.slice(0, Math.ceil(whole.length * share))
      const rest = ranking.filter((peer) => !solo.has(peer))
      groupings.push(filled(ranking, ground), [...alone, ...filled(rest, ground)])
    }
    for (const teams of teamCounts(whole.length)) groupings.push(dealt(whole, teams, ground))
  }
  return groupings.filter((grouping) => grouping.length > 0)
}

/** Of a ranking: without its weaker peers the others may be quicker. */
const shares = [1, 0.75, 0.5, 0.25]

/** Strongest first by memory, by speed, by the slower direction of the connection, and by speed and memory together. */
function rankingsOf({ cost, everyone }: Ground): (readonly number[])[] {
  const { peers } = cost.pool
  const values: ((peer: (typeof peers)[number]) => number)[] = [
    (peer) => peer.memoryBytes,
    (peer) => peer.flopsPerSecond,
    (peer) => Math.min(peer.uploadBytesPerSecond, peer.downloadBytesPerSecond),
    (peer) => Math.sqrt(peer.memoryBytes) * Math.sqrt(peer.flopsPerSecond),
  ]
  return values.map((valueOf) => {
    const valueAt = (place: number) => {
      const peer = peers[place]
      return peer === undefined ? 0 : valueOf(peer)
    }
    return everyone.toSorted((a, b) => valueAt(b) - valueAt(a) || a - b)
  })
}

/** Every peer that holds the model alone, a cluster each. */
function singles({ candidates, everyone }: Ground): Candidate[] {
  return everyone
    .map((peer) => candidates.of([peer]))
    .filter((one) => candidates.option(one, 0) !== undefined)
}

/** Clusters one after the other, each as few peers of the ranking as hold the model. */
function filled(ranking: readonly number[], { candidates }: Ground): Candidate[] {
  const clusters: Candidate[] = []
  let order: number[] = []
  for (const peer of ranking) {
    order = [...order, peer]
    const candidate = candidates.of(order)
    if (candidates.option(candidate, 0) === undefined) continue
    clusters.push(candidate)
    order = []
  }
  return clusters
}

/**
 * The ranking dealt to so many teams there and back, so that teams are about equally strong. A team that lends
 * plenty takes no more members: long pipelines are rarely quick.
 */
function dealt(ranking: readonly number[], teams: number, { cost, candidates }: Ground): Candidate[] {
  const plenty = ample * cost.memoryBytes([0, cost.profile.layers.length])
  const orders = Array.from({ length: teams }, (): number[] => [])
  const lent = orders.map(() => 0)
  for (const [index, peer] of ranking.entries()) {
    const turn = index % (2 * teams)
    const team = turn < teams ? turn : 2 * teams - 1 - turn
    if ((lent[team] ?? 0) >= plenty) continue
    orders[team]?.push(peer)
    lent[team] = (lent[team] ?? 0) + (cost.pool.peers[peer]?.memoryBytes ?? 0)
  }
  return orders.map((order) => candidates.of(order))
}

/** Memory of a dealt team in models: room for layers that do not divide evenly. */
const ample = 1.5

/** 1, 2, 3, 4, 6, 8, 12, ... teams: about eight sizes up to two peers a team. */
function teamCounts(peers: number): number[] {
  const counts = [1, 2, 3]
  for (let count = 4; count <= peers / 2; count = count * 2) counts.push(count, (count * 3) / 2)
  return counts.filter((count) => count === 1 || count <= peers / 2)
}
