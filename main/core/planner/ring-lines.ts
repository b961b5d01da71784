/**
 * What averaging takes on the lines between the members of its rings. The cost model counts what a peer sends against
 * its upload; between two homes the line is narrower than within one, and a peer in a LAN sends through both. And it
 * lets averages and micro-batches pass side by side, though both go over one line.
 */
import { type Codec, bytesShare } from '../../../shared/codec/codec.ts'
import type { Bytes, BytesPerSecond, Seconds } from '../../../shared/units.ts'
import { type CostModel, type Stage, transferSeconds } from './cost.ts'
import { ringsOf } from './rings.ts'

/** Bytes on every line of a pool, by its peers' places. */
export interface LineLoads {
  readonly uploads: Map<number, Bytes>
  readonly downloads: Map<number, Bytes>
  /** By `from to`. */
  readonly ways: Map<string, { readonly from: number; readonly to: number; bytes: Bytes }>
}

const noLoads = (): LineLoads => ({ uploads: new Map(), downloads: new Map(), ways: new Map() })

function add({ uploads, downloads, ways }: LineLoads, [from, to]: readonly [number, number], bytes: Bytes) {
  const key = `${from} ${to}`
  const way = ways.get(key) ?? { from, to, bytes: 0 }
  way.bytes += bytes
  ways.set(key, way)
  uploads.set(from, (uploads.get(from) ?? 0) + bytes)
  downloads.set(to, (downloads.get(to) ?? 0) + bytes)
}

/** Bytes of a round: each member of a ring of C passes 2(C−1)/C of what the ring averages to the next one. */
export function ringLoads({ profile }: CostModel, clusters: readonly (readonly Stage[])[]): LineLoads {
  const loads = noLoads()
  for (const { layers, members } of ringsOf(clusters)) {
    const held = layers.flatMap((run) => profile.layers.slice(...run))
    const averaged = held.reduce((sum, layer) => sum + layer.parameterBytes, 0)
    const bytes = ((2 * (members.length - 1)) / members.length) * averaged
    for (const [index, from] of members.entries()) {
      const to = members[(index + 1) % members.length] ?? from
      if (to !== from) add(loads, [from, to], bytes)
    }
  }
  return loads
}

/** Seconds of a round's bytes on its busiest way or download, all rings at once. */
export function ringLineSeconds({ pool, links }: CostModel, { ways, downloads }: LineLoads): Seconds {
  const onWays = [...ways.values()].map(({ from, to, bytes }) =>
    transferSeconds(bytes, links.bandwidth(from, to)),
  )
  const onDownloads = [...downloads].map(([peer, bytes]) =>
    transferSeconds(bytes, pool.peers[peer]?.downloadBytesPerSecond ?? 0),
  )
  return Math.max(0, ...onWays, ...onDownloads)
}

/** A cluster and the codecs of its borders, root first. */
interface SentCluster {
  readonly stages: readonly Stage[]
  readonly codecs: readonly Codec[]
}

/** Bytes of the micro-batches between two averages: activations to the next stage, their gradients back. */
function pipelineLoads({ profile }: CostModel, { stages, codecs }: SentCluster): LineLoads {
  const loads = noLoads()
  const microBatches = profile.averageEveryUpdates * profile.accumulate
  for (const [border, codec] of codecs.entries()) {
    const [before, after] = [stages[border], stages[border + 1]]
    if (before === undefined || after === undefined) continue
    const exact = profile.microBatch * (profile.layers[before.layers[1] - 1]?.activationBytesPerSample ?? 0)
    const bytes = microBatches * exact * bytesShare(codec)
    add(loads, [before.peer, after.peer], bytes)
    add(loads, [after.peer, before.peer], bytes)
  }
  return loads
}

/** Bytes a second that each peer of a cluster uploads while it trains at this rate: micro-batches and its rounds. */
export function uploadRates(
  cost: CostModel,
  cluster: SentCluster & { readonly samplesPerSecond: number },
  round: LineLoads,
): BytesPerSecond[] {
  const { uploads } = pipelineLoads(cost, cluster)
  const averagesPerSecond = cluster.samplesPerSecond / cost.samplesBetweenAverages
  return cluster.stages.map(
    ({ peer }) => averagesPerSecond * ((uploads.get(peer) ?? 0) + (round.uploads.get(peer) ?? 0)),
  )
}

/**
 * Seconds that the busiest line of a cluster takes for the micro-batches between two averages and one round together:
 * nothing is lost where they pass side by side, but a line that is full of one has no room for the other.
 *
 * @param round - of the rings
 */
export function sharedLineSeconds(cost: CostModel, cluster: SentCluster, round: LineLoads): Seconds {
  const { pool, links } = cost
  const pipeline = pipelineLoads(cost, cluster)
  const seconds = (bytesPerSecond: number, own: Bytes, others: Bytes | undefined) =>
    transferSeconds(own + (others ?? 0), bytesPerSecond)
  return Math.max(
    0,
    ...[...pipeline.uploads].map(([peer, bytes]) =>
      seconds(pool.peers[peer]?.uploadBytesPerSecond ?? 0, bytes, round.uploads.get(peer)),
    ),
    ...[...pipeline.downloads].map(([peer, bytes]) =>
      seconds(pool.peers[peer]?.downloadBytesPerSecond ?? 0, bytes, round.downloads.get(peer)),
    ),
    ...[...pipeline.ways].map(([key, { from, to, bytes }]) =>
      seconds(links.bandwidth(from, to), bytes, round.ways.get(key)?.bytes),
    ),
  )
}
