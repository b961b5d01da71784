/** How far through the model a peer gets within limits: the step of a quick walk that cuts as it goes. */
import { type CostModel, ringBytesPerSecond, transferSeconds } from '../cost.ts'
import type { Limits } from './shortest-cuts.ts'

export interface Reach {
  /** The farthest end of a run that begins at layer `from`, the peer before it in the pipeline known; `from` for none. */
  end(peer: number, from: number, before: number | undefined): number
  /** The part of the whole model that a peer holds within the limits, at most 1, as if layers could be cut anywhere. */
  share(peer: number): number
}

export function createReach(cost: CostModel, { maxBusy, maxLoad }: Limits): Reach {
  const { pool, profile, sums, cutBytes, links } = cost
  const layers = profile.layers.length
  const all = cost.memoryBytes([0, layers])
  const work = profile.microBatch * (1 + profile.backwardFactor)

  const peerAt = (place: number) => pool.peers[place]
  function holds(peer: number, from: number, to: number): boolean {
    const able = peerAt(peer)
    if (able === undefined || cost.memoryBytes([from, to]) > able.memoryBytes) return false
    const flops = (sums.f[to] ?? 0) - (sums.f[from] ?? 0)
    const held = (sums.p[to] ?? 0) - (sums.p[from] ?? 0)
    return (
      work * flops <= maxBusy * able.flopsPerSecond &&
      transferSeconds(held, ringBytesPerSecond(able)) <= maxLoad
    )
  }

  function trafficFits(peer: number, from: number, to: number): boolean {
    const able = peerAt(peer)
    if (able === undefined) return false
    const bytes = (cutBytes[from] ?? 0) + (cutBytes[to] ?? 0)
    return transferSeconds(bytes, ringBytesPerSecond(able)) <= maxBusy
  }

  return {
    end(peer, from, before) {
      const linkBytesPerSecond = before === undefined ? Infinity : links.bandwidth(before, peer)
      if (transferSeconds(cutBytes[from] ?? 0, linkBytesPerSecond) > maxBusy) return from
      let low = from
      let high = layers
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if (holds(peer, from, middle)) low = middle
        else high = middle - 1
      }
      while (low > from && !trafficFits(peer, from, low)) low--
      return low
    },
    share(peer) {
      const able = peerAt(peer)
      if (able === undefined) return 0
      const held = sums.p[layers] ?? 0
      return Math.min(
        1,
        all === 0 ? 1 : able.memoryBytes / all,
        (maxBusy * able.flopsPerSecond) / (work * (sums.f[layers] ?? 1)),
        held === 0 ? 1 : (maxLoad * ringBytesPerSecond(able)) / held,
      )
    },
  }
}
