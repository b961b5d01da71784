/** What holds a plan back: the resource that each cluster waits for. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Layout } from '../../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../../shared/plan/pool.ts'
import type { Seconds } from '../../../../shared/units.ts'
import { chooseCodecs } from '../codecs.ts'
import { bytesShare } from '../../../../shared/codec/codec.ts'
import {
  type CostModel,
  createCostModel,
  effectiveRate,
  ringBytesPerSecond,
  type Stage,
  transferSeconds,
} from '../cost.ts'

export type Limit = 'compute' | 'upload' | 'download' | 'link' | 'round-trip' | 'averaging'

/** What one cluster waits for. */
export interface ClusterLimit {
  readonly limit: Limit
  readonly cluster: number
  /** Whose resource it is; of a link both ends, of a round trip and an average's way nobody alone. */
  readonly peers: readonly PeerId[]
  /** A micro-batch keeps it busy for so long; of an average: the round. */
  readonly seconds: Seconds
}

/** Each cluster's limit, in cluster order. */
export function limitsOf(
  pool: Pool,
  profile: ModelProfile,
  layout: Pick<Layout, 'clusters'>,
): ClusterLimit[] {
  const cost = createCostModel(pool, profile)
  const places = new Map(pool.peers.map(({ id }, place) => [id, place]))
  const clusters = layout.clusters.map(({ stages }) =>
    stages.map(({ peer, layers }): Stage => ({ peer: places.get(peer) ?? -1, layers })),
  )
  const costs = clusters.map((stages) => cost.clusterCost(stages, chooseCodecs(cost, stages)))
  const load = costs.reduce((most, each) => Math.max(most, each.averagingLoad), 0)
  const averaging = cost.averagingSeconds(clusters, load)
  const slowestToAverage = ownerOf(cost, clusters, load)
  const way = averaging - ((2 * (clusters.length - 1)) / clusters.length) * load
  return clusters.map((stages, cluster) => {
    const { samplesPerSecond, busiestSeconds, roundTripSeconds } = costs[cluster] ?? nothing
    const isCapped =
      effectiveRate(samplesPerSecond, cost.samplesBetweenAverages, averaging) < samplesPerSecond
    if (isCapped)
      return {
        ...{ limit: 'averaging', cluster, seconds: averaging },
        peers: way < averaging / 2 ? slowestToAverage : [],
      }
    if (roundTripSeconds > profile.inFlight * busiestSeconds)
      return { limit: 'round-trip', cluster, peers: [], seconds: roundTripSeconds }
    return { cluster, ...busiestOf(cost, stages) }
  })
}

const nothing = { samplesPerSecond: 0, busiestSeconds: 0, roundTripSeconds: 0 }

function ownerOf(cost: CostModel, clusters: readonly (readonly Stage[])[], load: Seconds): PeerId[] {
  const owner = clusters.flat().find(({ peer, layers: [from, to] }) => {
    const bytes = (cost.sums.p[to] ?? 0) - (cost.sums.p[from] ?? 0)
    const line = cost.pool.peers[peer]
    return line !== undefined && transferSeconds(bytes, ringBytesPerSecond(line)) >= load
  })
  return owner === undefined ? [] : [idOf(cost, owner)]
}

const idOf = ({ pool }: CostModel, { peer }: Stage): PeerId => pool.peers[peer]?.id ?? ''

/** The resource of a cluster that a micro-batch keeps busy longest, as its borders send it. */
function busiestOf(cost: CostModel, stages: readonly Stage[]): Omit<ClusterLimit, 'cluster'> {
  const codecs = chooseCodecs(cost, stages)
  const { codec } = cost.profile
  const sentShare = bytesShare(codec === 'auto' ? 'int8' : codec)
  const crossing = (border: number) => {
    const end = stages[border]?.layers[1] ?? 0
    return ((cost.cutBytes[end] ?? 0) / sentShare) * bytesShare(codecs[border] ?? 'fp32')
  }
  const loads = stages.flatMap((stage, index): Omit<ClusterLimit, 'cluster'>[] => {
    const peer = cost.pool.peers[stage.peer]
    const next = stages[index + 1]
    const peers = [idOf(cost, stage)]
    const traffic = (index === 0 ? 0 : crossing(index - 1)) + (next === undefined ? 0 : crossing(index))
    return [
      { limit: 'compute', peers, seconds: cost.computeSeconds(stage) },
      { limit: 'upload', peers, seconds: transferSeconds(traffic, peer?.uploadBytesPerSecond ?? 0) },
      { limit: 'download', peers, seconds: transferSeconds(traffic, peer?.downloadBytesPerSecond ?? 0) },
      ...(next === undefined
        ? []
        : [
            {
              limit: 'link' as const,
              peers: [...peers, idOf(cost, next)],
              seconds: transferSeconds(crossing(index), cost.links.bandwidth(stage.peer, next.peer)),
            },
          ]),
    ]
  })
  return loads.reduce((most, load) => (load.seconds > most.seconds ? load : most))
}
