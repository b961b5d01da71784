/** The networks of a pool as its links show them. */
import type { CostModel } from '../cost.ts'
import { type Neighbourhoods, neighbourhoodsOf, type Way } from './neighbourhoods.ts'

export interface Borders {
  /** Ways to draw them, everyone in one network among them. */
  readonly borders: readonly Neighbourhoods[]
  /** Peers of the same network by the clearest border, the peer among them. */
  readonly near: (peer: number) => readonly number[]
}

const mostBorders = 2

/** @param everyone - the peers that count, by place in the pool */
export function bordersOf(cost: CostModel, everyone: readonly number[]): Borders {
  const counts = new Set(everyone)
  const found = neighbourhoodsOf(cost.pool.peers.length, waysOf(cost), mostBorders).map((groups) =>
    groups.map((group) => group.filter((peer) => counts.has(peer))).filter((group) => group.length > 0),
  )
  const networks = new Map<number, readonly number[]>()
  for (const group of found[0] ?? [everyone]) for (const peer of group) networks.set(peer, group)
  return { borders: [[everyone], ...found], near: (peer) => networks.get(peer) ?? [] }
}

/** Seconds of a usual cut's bytes there and back, for pairs nearer than any two without a known link. */
function waysOf({ pool, links, cutBytes }: CostModel): Way[] {
  const bytes = cutBytes.reduce((sum, each) => sum + each, 0) / Math.max(1, cutBytes.length - 2)
  const lineOf = (place: number) => {
    const peer = pool.peers[place]
    return peer === undefined ? 0 : Math.min(peer.uploadBytesPerSecond, peer.downloadBytesPerSecond)
  }
  return links.known
    .filter(([a, b]) => links.bandwidth(a, b) > 0)
    .map(([a, b]): Way => {
      const rate = Math.min(lineOf(a), lineOf(b), links.bandwidth(a, b))
      return [a, b, links.latency(a, b) + (rate > 0 ? bytes / rate : Infinity)]
    })
    .filter(([, , seconds]) => seconds < Infinity)
}
