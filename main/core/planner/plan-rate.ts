/** The cost model's rate of a plan in force, with its own codecs, ways to run and numbers of the schedule. */
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { BytesPerSecond, Seconds } from '../../../shared/units.ts'
import { type CostModel, createCostModel, effectiveRate, type Stage } from './cost.ts'
import { ringLineSeconds, ringLoads, sharedLineSeconds, type LineLoads, uploadRates } from './ring-lines.ts'
import { forwardSeconds, type SentStage, type SharedProcessors, slowdown } from './shared-processors.ts'

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
  const clusters = clustersOf(plan, pool)
  const { accumulate } = plan
  const modelOf = (inFlight: number) => createCostModel(pool, { ...profile, accumulate, inFlight })
  const models = new Map([...new Set(plan.inFlight)].map((credits) => [credits, modelOf(credits)]))
  const cost = modelOf(1)
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
  const slower = shared === undefined ? 1 : slowdown(cost, { plan, clusters, rates }, shared)
  return rates.map((rate) => rate / slower)
}

/**
 * Bytes a second that each peer of a plan uploads while it trains, in the order of its clusters.
 * @param rates - `planRates` of the same plan
 */
export function planUploads(
  { pool, profile }: { readonly pool: Pool; readonly profile: ModelProfile },
  plan: Plan,
  rates: readonly number[],
): BytesPerSecond[] {
  const clusters = clustersOf(plan, pool)
  const cost = createCostModel(pool, { ...profile, accumulate: plan.accumulate })
  const round = ringLoads(cost, clusters)
  return clusters.flatMap((stages, index) => {
    const cluster = { stages, codecs: codecsOf(stages), samplesPerSecond: rates[index] ?? 0 }
    return uploadRates(cost, cluster, round)
  })
}

const codecsOf = (stages: readonly SentStage[]) => stages.slice(0, -1).map(({ codec }) => codec)

/** The active ones, their peers by their places in the pool. */
function clustersOf({ active, layout }: Plan, pool: Pool): SentStage[][] {
  const places = new Map(pool.peers.map((peer, place) => [peer.id, place]))
  return active.map((cluster) =>
    (layout.clusters[cluster]?.stages ?? []).map(({ peer, layers, recompute, codec = 'fp32' }) => ({
      ...{ peer: places.get(peer) ?? -1, layers, recompute, codec },
    })),
  )
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
  plan: Plan,
  { rates, shared }: { readonly rates: readonly number[]; readonly shared: SharedProcessors | undefined },
): Seconds {
  const cost = createCostModel(pool, profile)
  const [stages = []] = clustersOf(plan, pool)
  const isHere = ({ peer }: Stage) => shared?.peers.has(pool.peers[peer]?.id ?? '') === true
  if (shared !== undefined && stages.every(isHere)) return forwardSeconds(cost, stages, shared)
  const seconds = stages.map((stage) => {
    const { peer, layers } = stage
    const flops = (cost.sums.f[layers[1]] ?? 0) - (cost.sums.f[layers[0]] ?? 0)
    const { flopsPerSecond = Infinity, callSeconds = 0 } = pool.peers[peer] ?? {}
    return {
      forward: flops / flopsPerSecond + callSeconds / profile.microBatch,
      whole: cost.computeSeconds(stage) / profile.microBatch,
    }
  })
  const forward = seconds.reduce((sum, stage) => sum + stage.forward, 0)
  const whole = seconds.reduce((sum, stage) => sum + stage.whole, 0)
  return whole > 0 ? forward / whole / (rates[0] ?? Infinity) : 0
}
