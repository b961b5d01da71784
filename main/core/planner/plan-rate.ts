/** The cost model's rate of a plan in force, with its own codecs, ways to run and numbers of the schedule. */
import type { Codec } from '../../../shared/codec/codec.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'
import { type CostModel, createCostModel, effectiveRate, type Stage } from './cost.ts'
import { ringLineSeconds } from './ring-lines.ts'

/**
 * Samples a second of each active cluster with its own credits, averaging included.
 * @throws InvariantError for a stage on a peer that the pool does not have
 */
export function planRates(pool: Pool, profile: ModelProfile, plan: Plan): number[] {
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
  return costs.map(({ samplesPerSecond }) =>
    effectiveRate(samplesPerSecond, cost.samplesBetweenAverages, averaging),
  )
}

/** By the members' uploads, or by the ways of the rings where these are narrower. */
function averagingSeconds(cost: CostModel, clusters: readonly (readonly Stage[])[], largestLoad: Seconds) {
  const latencies = cost.averagingSeconds(clusters, 0)
  return Math.max(cost.averagingSeconds(clusters, largestLoad), latencies + ringLineSeconds(cost, clusters))
}
