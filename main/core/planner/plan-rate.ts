/** The cost model's rate of a plan in force, with its own codecs, ways to run and numbers of the schedule. */
import type { Codec } from '../../../shared/codec/codec.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'
import { type CostModel, createCostModel, effectiveRate, type Stage } from './cost.ts'
import { ringLineSeconds } from './ring-lines.ts'

/** Peers whose engines share a machine. */
export interface SharedProcessors {
  readonly peers: ReadonlySet<string>
  /** Engines that compute at full speed at once. */
  readonly processors: number
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
      ({ peer, layers, recompute, codec = 'fp32' }): Stage & { readonly codec: Codec } => ({
        ...{ peer: places.get(peer) ?? -1, layers, recompute, codec },
      }),
    ),
  )
  const { accumulate } = plan
  const modelOf = (inFlight: number) => createCostModel(pool, { ...profile, accumulate, inFlight })
  const models = new Map([...new Set(plan.inFlight)].map((credits) => [credits, modelOf(credits)]))
  const cost = modelOf(1)
  const costs = clusters.map((stages, index) => {
    const credits = plan.inFlight[plan.active[index] ?? 0] ?? 1
    const codecs = stages.slice(0, -1).map(({ codec }) => codec)
    return (models.get(credits) ?? cost).clusterCost(stages, codecs)
  })
  const averaging = averagingSeconds(cost, clusters, Math.max(...costs.map((each) => each.averagingLoad)))
  const rates = costs.map(({ samplesPerSecond }) =>
    effectiveRate(samplesPerSecond, cost.samplesBetweenAverages, averaging),
  )
  const slower = shared === undefined ? 1 : slowdown(cost, { clusters, rates, shared })
  return rates.map((rate) => rate / slower)
}

interface Training {
  readonly clusters: readonly (readonly Stage[])[]
  readonly rates: readonly number[]
  readonly shared: SharedProcessors
}

/** How many times as long everything takes on processors that would have to compute so much at once; at least 1. */
function slowdown(cost: CostModel, { clusters, rates, shared }: Training): number {
  const { pool, profile } = cost
  const busy = clusters.map((stages, index) => {
    const here = stages.filter(({ peer }) => shared.peers.has(pool.peers[peer]?.id ?? ''))
    const seconds = here.reduce((sum, stage) => sum + cost.computeSeconds(stage), 0)
    return ((rates[index] ?? 0) / profile.microBatch) * seconds
  })
  return Math.max(1, busy.reduce((sum, each) => sum + each, 0) / shared.processors)
}

/** By the members' uploads, or by the ways of the rings where these are narrower. */
function averagingSeconds(cost: CostModel, clusters: readonly (readonly Stage[])[], largestLoad: Seconds) {
  const latencies = cost.averagingSeconds(clusters, 0)
  return Math.max(cost.averagingSeconds(clusters, largestLoad), latencies + ringLineSeconds(cost, clusters))
}
