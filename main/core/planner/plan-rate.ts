/** The cost model's rate of a plan in force, with the numbers of its own schedule. */
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createCostModel, effectiveRate } from './cost.ts'

/**
 * Samples a second of each active cluster with its own credits, averaging included.
 * @throws InvariantError for a stage on a peer that the pool does not have
 */
export function planRates(pool: Pool, profile: ModelProfile, plan: Plan): number[] {
  const places = new Map(pool.peers.map((peer, place) => [peer.id, place]))
  const clusters = plan.active.map((cluster) =>
    (plan.layout.clusters[cluster]?.stages ?? []).map(({ peer, layers }) => ({
      peer: places.get(peer) ?? -1,
      layers,
    })),
  )
  const { accumulate } = plan
  const modelOf = (inFlight: number) => createCostModel(pool, { ...profile, accumulate, inFlight })
  const models = new Map([...new Set(plan.inFlight)].map((credits) => [credits, modelOf(credits)]))
  const cost = modelOf(1)
  const costs = clusters.map((stages, index) => {
    const credits = plan.inFlight[plan.active[index] ?? 0] ?? 1
    return (models.get(credits) ?? cost).clusterCost(stages)
  })
  const averaging = cost.averagingSeconds(clusters, Math.max(...costs.map((each) => each.averagingLoad)))
  return costs.map(({ samplesPerSecond }) =>
    effectiveRate(samplesPerSecond, cost.samplesBetweenAverages, averaging),
  )
}
