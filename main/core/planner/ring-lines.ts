/**
 * What averaging takes on the lines between the members of its rings. The cost model counts what a peer sends against
 * its upload; between two homes the line is narrower than within one, and a peer in a LAN sends through both.
 */
import type { Seconds } from '../../../shared/units.ts'
import { type CostModel, type Stage, transferSeconds } from './cost.ts'
import { ringsOf } from './rings.ts'

/**
 * Seconds of a round's bytes on its busiest way or download: each member of a ring of C passes 2(C−1)/C of what the ring
 * averages to the next one, all rings at once.
 */
export function ringLineSeconds(cost: CostModel, clusters: readonly (readonly Stage[])[]): Seconds {
  const { pool, profile, links } = cost
  const ways = new Map<string, { readonly from: number; readonly to: number; bytes: number }>()
  const downloads = new Map<number, number>()
  for (const { layers, members } of ringsOf(clusters)) {
    const held = layers.flatMap((run) => profile.layers.slice(...run))
    const averaged = held.reduce((sum, layer) => sum + layer.parameterBytes, 0)
    const bytes = ((2 * (members.length - 1)) / members.length) * averaged
    for (const [index, from] of members.entries()) {
      const to = members[(index + 1) % members.length] ?? from
      if (to === from) continue
      const key = `${from} ${to}`
      const way = ways.get(key) ?? { from, to, bytes: 0 }
      way.bytes += bytes
      ways.set(key, way)
      downloads.set(to, (downloads.get(to) ?? 0) + bytes)
    }
  }
  const onWays = [...ways.values()].map(({ from, to, bytes }) =>
    transferSeconds(bytes, links.bandwidth(from, to)),
  )
  const onDownloads = [...downloads].map(([peer, bytes]) =>
    transferSeconds(bytes, pool.peers[peer]?.downloadBytesPerSecond ?? 0),
  )
  return Math.max(0, ...onWays, ...onDownloads)
}
