/** The planner's pool from what members reported of themselves and of the ways between them. */
import type { PeerId } from '../../../shared/ids.ts'
import type { DeviceReport } from '../../../shared/messages/wire.ts'
import type { Pool } from '../../../shared/plan/pool.ts'
import type { LinkReport } from './link-probes.ts'

export interface MeasuredPeer {
  readonly peer: PeerId
  readonly device: DeviceReport
  readonly links: readonly LinkReport[]
}

/** A peer alone in its pool needs no uplink; any positive number says "not the limit". */
const aloneBytesPerSecond = 1e9

/** Engines that run the forward pass again in the backward pass whatever they are told, by their backend's name. */
export const alwaysRecomputes = (backend: string) => backend.startsWith('tfjs-')

/**
 * Upload of a peer: the best rate at which it reached another; download: the best at which another reached it.
 * A pair's latency is half the shorter of its two round trips.
 *
 * @param tapedMemoryFactor - how many times what the planner counts a stage takes on TensorFlow.js: the memory of a peer
 *   with such an engine counts for so much less
 */
export function measuredPool(peers: readonly MeasuredPeer[], tapedMemoryFactor = 1): Pool {
  const best = (rates: readonly number[]) =>
    peers.length === 1 ? aloneBytesPerSecond : Math.max(0, ...rates)
  const known = new Set(peers.map(({ peer }) => peer))
  const reported = peers.flatMap(({ peer, links }) => links.map((link) => ({ from: peer, ...link })))
  const ways = reported.filter((way) => known.has(way.peer))
  const pairs = new Map<
    string,
    { between: [PeerId, PeerId]; latencySeconds: number; bytesPerSecond: number }
  >()
  for (const { from, peer: to, roundTripSeconds, bytesPerSecond } of ways) {
    const between: [PeerId, PeerId] = from < to ? [from, to] : [to, from]
    const earlier = pairs.get(between.join(' '))
    pairs.set(between.join(' '), {
      between,
      latencySeconds: Math.min(earlier?.latencySeconds ?? Infinity, roundTripSeconds / 2),
      bytesPerSecond: Math.min(earlier?.bytesPerSecond ?? Infinity, bytesPerSecond),
    })
  }
  return {
    peers: peers.map(({ peer, device }) => ({
      id: peer,
      ...(alwaysRecomputes(device.backend)
        ? { memoryBytes: device.memoryBytes / tapedMemoryFactor, keeps: false }
        : { memoryBytes: device.memoryBytes }),
      flopsPerSecond: device.flopsPerSecond,
      ...(device.callSeconds === undefined ? {} : { callSeconds: device.callSeconds }),
      uploadBytesPerSecond: best(ways.filter((way) => way.from === peer).map((way) => way.bytesPerSecond)),
      downloadBytesPerSecond: best(ways.filter((way) => way.peer === peer).map((way) => way.bytesPerSecond)),
    })),
    links: [...pairs.values()],
    defaultLatencySeconds: 0.02,
  }
}
