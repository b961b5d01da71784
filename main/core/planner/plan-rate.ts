/** The cost model's rate of a plan in force, with its own codecs, ways to run and numbers of the schedule. */
import { bytesShare, type Codec } from '../../../shared/codec/codec.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'
import {
  callsPerMicroBatch,
  type CostModel,
  createCostModel,
  effectiveRate,
  type Stage,
  transferSeconds,
} from './cost.ts'
import { ringLineSeconds, ringLoads, sharedLineSeconds, type LineLoads } from './ring-lines.ts'

/** The processor's seconds of agents that all work at once on the same machine. */
export interface CrowdCosts {
  /** Of a call of an engine that computes hardly anything. */
  readonly callSeconds: Seconds
  /** Of a small message to and fro, at both ends together. */
  readonly exchangeSeconds: Seconds
}

/** Peers whose engines share a machine. */
export interface SharedProcessors {
  readonly peers: ReadonlySet<string>
  /** Engines that compute at full speed at once. */
  readonly processors: number
  /** Absent: as each was measured alone. */
  readonly crowd?: CrowdCosts | undefined
}

/**
 * Samples a second of each active cluster with its own credits, averaging included.
 * @param shared - these peers together compute no more than their processors can
 * @throws InvariantError for a stage on a peer that the pool does not have
 */
export function planRates(
  pool: Pool,
  profile: ModelProfile,
  plan: Plan,
  shared?: SharedProcessors,
): number[] {
  const places = new Map(pool.peers.map((peer, place) => [peer.id, place]))
  const clusters = plan.active.map((cluster) =>
    (plan.layout.clusters[cluster]?.stages ?? []).map(
      ({ peer, layers, recompute, codec = 'fp32' }): SentStage => ({
        ...{ peer: places.get(peer) ?? -1, layers, recompute, codec },
      }),
    ),
  )
  const { accumulate } = plan
  const modelOf = (inFlight: number) => createCostModel(pool, { ...profile, accumulate, inFlight })
  const models = new Map([...new Set(plan.inFlight)].map((credits) => [credits, modelOf(credits)]))
  const cost = modelOf(1)
  const codecsOf = (stages: (typeof clusters)[number]) => stages.slice(0, -1).map(({ codec }) => codec)
  const costs = clusters.map((stages, index) => {
    const credits = plan.inFlight[plan.active[index] ?? 0] ?? 1
    return (models.get(credits) ?? cost).clusterCost(stages, codecsOf(stages))
  })
  const round = ringLoads(cost, clusters)
  const largestLoad = Math.max(...costs.map((each) => each.averagingLoad))
  const averaging = averagingSeconds(cost, clusters, { largestLoad, round })
  const rates = costs.map(({ samplesPerSecond }, index) => {
    const stages = clusters[index] ?? []
    const shared = sharedLineSeconds(cost, { stages, codecs: codecsOf(stages) }, round)
    return effectiveRate(samplesPerSecond, cost.samplesBetweenAverages, Math.max(averaging, shared))
  })
  const slower = shared === undefined ? 1 : slowdown(cost, { clusters, rates, shared })
  return rates.map((rate) => rate / slower)
}

type SentStage = Stage & { readonly codec: Codec }

interface Training {
  readonly clusters: readonly (readonly SentStage[])[]
  readonly rates: readonly number[]
  readonly shared: SharedProcessors
}

/**
 * How many times as long everything takes on processors that would have to compute so much at once; at least 1. What two
 * peers of one machine send to each other, its processors write, encrypt, copy and read: the way's time is theirs.
 */
function slowdown(cost: CostModel, { clusters, rates, shared }: Training): number {
  const { pool, profile, links } = cost
  const { crowd } = shared
  const computeSeconds = (stage: Stage) =>
    crowd === undefined
      ? cost.computeSeconds(stage)
      : cost.workSeconds(stage) +
        callsPerMicroBatch(profile, stage.layers[1] === profile.layers.length) * crowd.callSeconds
  const isHere = ({ peer }: Stage) => shared.peers.has(pool.peers[peer]?.id ?? '')
  const busy = clusters.map((stages, index) => {
    const computing = stages.filter(isHere).reduce((sum, stage) => sum + computeSeconds(stage), 0)
    const sending = stages.reduce((sum, stage, place) => {
      const next = stages[place + 1]
      if (next === undefined || !isHere(stage) || !isHere(next)) return sum
      const exact = profile.microBatch * (profile.layers[stage.layers[1] - 1]?.activationBytesPerSample ?? 0)
      const bytes = exact * bytesShare(stage.codec)
      const [a, b] = [stage.peer, next.peer]
      const exchange = shared.crowd?.exchangeSeconds ?? 2 * links.latency(a, b)
      return sum + exchange + 2 * transferSeconds(bytes, links.bandwidth(a, b))
    }, 0)
    const seconds = computing + sending
    return ((rates[index] ?? 0) / profile.microBatch) * seconds
  })
  return Math.max(1, busy.reduce((sum, each) => sum + each, 0) / shared.processors)
}

/** By the members' uploads, or by the ways of the rings where these are narrower. */
function averagingSeconds(
  cost: CostModel,
  clusters: readonly (readonly Stage[])[],
  { largestLoad, round }: { readonly largestLoad: Seconds; readonly round: LineLoads },
) {
  const latencies = cost.averagingSeconds(clusters, 0)
  return Math.max(cost.averagingSeconds(clusters, largestLoad), latencies + ringLineSeconds(cost, round))
}

/**
 * Seconds of training that judging one sample takes: the first cluster passes it forward, in between its micro-batches.
 * @param rates - `planRates` of the same plan
 */
export function judgingSeconds(
  { pool, profile }: { readonly pool: Pool; readonly profile: ModelProfile },
  { layout, active }: Plan,
  { rates, shared }: { readonly rates: readonly number[]; readonly shared: SharedProcessors | undefined },
): Seconds {
  const cost = createCostModel(pool, profile)
  const stages = layout.clusters[active[0] ?? 0]?.stages ?? []
  const seconds = stages.map(({ peer, layers: [from, to], recompute }) => {
    const place = pool.peers.findIndex(({ id }) => id === peer)
    const flops = profile.layers.slice(from, to).reduce((sum, layer) => sum + layer.flopsPerSample, 0)
    const { flopsPerSecond = Infinity, callSeconds = 0 } = pool.peers[place] ?? {}
    return {
      forward: flops / flopsPerSecond + callSeconds / profile.microBatch,
      whole: cost.computeSeconds({ peer: place, layers: [from, to], recompute }) / profile.microBatch,
    }
  })
  const forward = seconds.reduce((sum, stage) => sum + stage.forward, 0)
  const whole = seconds.reduce((sum, stage) => sum + stage.whole, 0)
  const isShared = stages.every(({ peer }) => shared?.peers.has(peer) === true)
  if (shared !== undefined && isShared) return forward / shared.processors
  return whole > 0 ? forward / whole / (rates[0] ?? Infinity) : 0
}
