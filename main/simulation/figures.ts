/** What a simulation says: rates, shares, staleness and bytes. */
import type { PeerId } from '../../shared/ids.ts'
import type { Traffic } from '../../shared/messages/wire.ts'
import type { Pool } from '../../shared/plan/pool.ts'
import { type Bytes, second, type Seconds } from '../../shared/units.ts'
import type { Membership } from './churn.ts'
import type { LineUse, SimulatedNetwork } from './network.ts'
import type { SimulationRequest } from './request.ts'
import type { SimulatedPool } from './simulated-pool.ts'

/** Shares are of the time after the warm-up. */
export interface StageFigures {
  readonly cluster: number
  readonly stage: number
  readonly peer: PeerId
  readonly layers: readonly [number, number]
  readonly busyShare: number
  readonly uploadShare: number
  readonly downloadShare: number
  /** Its updates waited for an average. */
  readonly averagingShare: number
}

export interface Figures {
  readonly participants: number
  readonly simulatedSeconds: Seconds
  /** After the warm-up. */
  readonly samplesPerSecond: number
  /** Of the whole run. */
  readonly samples: number
  /** Trained, and gone with a cluster that lost a PC before its next average. */
  readonly lostSamples: number
  /** Of the last plan. */
  readonly stages: readonly StageFigures[]
  /** How many micro-batches of all stages had staleness 0, 1, 2, … */
  readonly staleness: readonly number[]
  readonly bytesSent: Readonly<Record<Traffic, Bytes>>
  /** Seen by every member of every ring. */
  readonly rounds: { readonly averaged: number; readonly abandoned: number }
  /** Until every cluster had reached its target and the last average was made; absent: none had. */
  readonly endedSeconds?: Seconds
  readonly losses: number
  readonly plans: number
}

interface FigureParts {
  readonly simulated: SimulatedPool
  readonly request: SimulationRequest
  readonly before: ReadonlyMap<PeerId, LineUse>
  readonly membership: Membership | undefined
  readonly seconds: Seconds
}

export function usesOf(pool: Pool, network: SimulatedNetwork): Map<PeerId, LineUse> {
  return new Map(pool.peers.map(({ id }) => [id, network.use(id)]))
}

export function figuresOf({ simulated, request, before, membership, seconds }: FigureParts): Figures {
  const { meters, network, plan } = simulated
  const { microBatch } = request.profile
  const stages = stagesOf({ simulated, before, seconds })
  simulated.end('the simulation is over')
  return {
    participants: plan.layout.clusters.reduce((sum, cluster) => sum + cluster.stages.length, 0),
    simulatedSeconds: request.minutes * 60,
    samplesPerSecond: (meters.trainedWarm * microBatch) / seconds,
    samples: meters.trained * microBatch,
    lostSamples: meters.lost * microBatch,
    stages,
    staleness: [...meters.staleness],
    bytesSent: network.sentBytes(),
    rounds: { ...meters.rounds },
    ...(meters.endedMs === undefined ? {} : { endedSeconds: meters.endedMs / second }),
    losses: membership?.losses ?? 0,
    plans: membership?.plans ?? 1,
  }
}

function stagesOf({
  simulated,
  before,
  seconds,
}: Pick<FigureParts, 'simulated' | 'before' | 'seconds'>): StageFigures[] {
  const share = (busyMs: number) => Math.min(1, busyMs / (seconds * second))
  return simulated.plan.layout.clusters.flatMap(({ stages }, cluster) =>
    stages.map(({ peer, layers }, stage): StageFigures => {
      const { uploadMs, downloadMs } = simulated.network.use(peer)
      return {
        ...{ cluster, stage, peer, layers },
        busyShare: share(simulated.meters.busyMs(peer)),
        averagingShare: share(simulated.meters.gatedMs(peer)),
        uploadShare: share(uploadMs - (before.get(peer)?.uploadMs ?? 0)),
        downloadShare: share(downloadMs - (before.get(peer)?.downloadMs ?? 0)),
      }
    }),
  )
}
