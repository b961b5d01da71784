/** The figures of a plan: what a face shows and a forecast says. */
import type { Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { chooseCodecs } from './codecs.ts'
import { createCostModel, effectiveRate, type Stage } from './cost.ts'
import { type Held, ringsOf } from './rings.ts'

/**
 * Every figure of a plan, from its stages alone. A cluster's `samplesPerSecond` is what averaging leaves of it,
 * so that they add up to the pool's, at the codecs that its borders get, and in the long run where peers are not always
 * there; a stage's `secondsPerMicroBatch` is its computing, forward and backward.
 *
 * @throws InvariantError for a stage on a peer that the pool does not have
 */
export function planFigures(
  pool: Pool,
  profile: ModelProfile,
  clusters: readonly (readonly Held<string>[])[],
): Omit<Layout, 'unused'> {
  const cost = createCostModel(pool, profile)
  const places = new Map(pool.peers.map((peer, place) => [peer.id, place]))
  const placed = clusters.map((stages) =>
    stages.map(({ peer, layers }): Stage => ({ peer: places.get(peer) ?? -1, layers })),
  )
  const codecs = placed.map((stages) => chooseCodecs(cost, stages))
  const costs = placed.map((stages, index) => cost.clusterCost(stages, codecs[index]))
  const averagingSeconds = cost.averagingSeconds(placed, Math.max(...costs.map((each) => each.averagingLoad)))
  const rates = costs.map((each) =>
    effectiveRate(each.samplesPerSecond, cost.samplesBetweenAverages, averagingSeconds),
  )
  return {
    clusters: clusters.map((stages, index) => ({
      stages: stages.map(({ peer, layers: [from, to] }, position) => {
        const codec = codecs[index]?.[position]
        const stage = placed[index]?.[position] ?? { peer: -1, layers: [0, 0] }
        const recompute = cost.recomputes(stage)
        return {
          peer,
          layers: [from, to],
          memoryBytes: cost.stageBytes(stage),
          secondsPerMicroBatch: cost.computeSeconds(stage),
          ...(recompute === undefined ? {} : { recompute }),
          ...(codec === undefined ? {} : { codec }),
        }
      }),
      samplesPerSecond: rates[index] ?? 0,
    })),
    rings: ringsOf(clusters).map(({ layers, members }) => ({
      layers: layers.map(([from, to]): [number, number] => [from, to]),
      members,
    })),
    samplesPerSecond: rates.reduce((sum, rate) => sum + rate, 0),
    averagingSeconds,
  }
}
