/** Pools and models whose rates are known beforehand. */
import type { Layout, Plan } from '../../shared/plan/plan.ts'
import { type ModelProfile, modelProfile, type Pool, pool } from '../../shared/plan/pool.ts'
import { planFigures } from '../../main/core/planner/plan-figures.ts'
import { scheduleOfProfile } from '../../main/simulation/schedules.ts'
import type { SimulationRequest } from '../../main/simulation/request.ts'
import { simulate } from '../../main/simulation/simulate.ts'
import { noStragglers } from '../../main/simulation/stragglers.ts'

/** Fast and wide: what a test does not set is never the limit. */
export function poolOf(
  peers: readonly Partial<Pool['peers'][number]>[],
  changes: Partial<Omit<Pool, 'peers'>> = {},
): Pool {
  return pool.parse({
    peers: peers.map((peer, index) => ({
      ...{ id: `pc-${index}`, memoryBytes: 1e12, flopsPerSecond: 1e15 },
      ...{ uploadBytesPerSecond: 1e15, downloadBytesPerSecond: 1e15, ...peer },
    })),
    defaultLatencySeconds: 0,
    ...changes,
  })
}

/** One layer a stage: 1000 bytes of parameters, 100 bytes of activations a sample, 10 FLOPs; b = 10, β = 3. */
export function profileOf(layers: number, changes: Partial<ModelProfile> = {}): ModelProfile {
  return modelProfile.parse({
    name: 'small',
    layers: Array.from({ length: layers }, (_, index) => ({
      ...{ name: `layer-${index}`, parameterBytes: 1000, activationBytesPerSample: 100 },
      ...{ workingBytesPerSample: 0, flopsPerSample: 10 },
    })),
    ...{ microBatch: 10, inFlight: 8, accumulate: 2, averageEveryUpdates: 1_000_000, ...changes },
  })
}

/** Every peer a layer, in order; so many clusters of so many peers. */
export function rows(pool: Pool, profile: ModelProfile, clusters = 1): Layout {
  const depth = profile.layers.length
  const stages = Array.from({ length: clusters }, (_, cluster) =>
    profile.layers.map((_layer, layer) => ({
      peer: pool.peers[cluster * depth + layer]?.id ?? '',
      layers: [layer, layer + 1] as [number, number],
    })),
  )
  return { ...planFigures(pool, profile, stages), unused: [] }
}

export const run = (
  request: Pick<SimulationRequest, 'pool' | 'profile' | 'layout'> & Partial<SimulationRequest>,
) =>
  simulate({
    ...{ seed: 1, minutes: 10, stragglers: noStragglers, loss: 0 },
    schedule: (layout: Layout): Plan => scheduleOfProfile(layout, request.profile),
    ...request,
  })
