/** The forecast beside the truth, at the end of a run. */
import type { Bytes } from '../../../../shared/units.ts'
import { profileOf } from '../../model/profile.ts'
import { planRates } from '../../planner/plan-rate.ts'
import type { PeerTruth, PlanForecast } from '../learned.ts'
import { measuredPool } from '../measured-pool.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import type { HostState } from './host-state.ts'
import { samplesTrained } from './run-report.ts'

export interface Comparison {
  readonly forecast: ComparedFigures
  readonly truth: ComparedFigures
  /** Of the last plan. */
  readonly peers: readonly (PeerTruth & {
    readonly memoryBytes: Bytes
    readonly peakTensorBytes: Bytes
  })[]
}

interface ComparedFigures {
  readonly samplesPerSecond: number
  readonly seconds: number
  /** Activations and gradients. */
  readonly pipelineBytes: Bytes
}

/** Micro-batches that say something of a PC's speed: the first ones compile and warm up. */
const enoughMicroBatches = 20

/** Of a plan that is about to train. What members lend was corrected before. */
export function forecastOf(host: HostState, plan: Plan, pool: ReturnType<typeof measuredPool>): PlanForecast {
  const { graph, recipe } = host.hosted.spec
  const rates = planRates(pool, profileOf(graph, recipe), plan)
  return {
    samplesPerSecond: rates.reduce((sum, rate) => sum + rate, 0),
    from: { seconds: host.secondsTrained, samples: samplesTrained(host) },
  }
}

/** Undefined before a plan has trained. */
export function compare(host: HostState): Comparison | undefined {
  const { forecast, plan } = host
  if (forecast === undefined || plan === undefined) return undefined
  const samples = samplesTrained(host) - forecast.from.samples
  const seconds = host.secondsTrained - forecast.from.seconds
  if (samples <= 0 || seconds <= 0) return undefined
  const { samplesPerSecond } = forecast
  return {
    forecast: {
      samplesPerSecond,
      seconds: samples / samplesPerSecond,
      pipelineBytes: pipelineBytes(host, plan),
    },
    truth: {
      samplesPerSecond: samples / seconds,
      seconds,
      pipelineBytes: host.roll.all.reduce(
        (sum, { progress }) => sum + (progress?.sent.activations ?? 0) + (progress?.sent.gradients ?? 0),
        0,
      ),
    },
    peers: peersOfPlan(host, plan),
  }
}

/** Both ways over every border, for the samples that each cluster trained. */
function pipelineBytes(host: HostState, { layout }: Plan): Bytes {
  const { graph, recipe } = host.hosted.spec
  const { layers } = profileOf(graph, recipe)
  return layout.clusters.reduce((total, { stages }) => {
    const samples = host.roll.get(stages[0]?.peer ?? '')?.progress?.samples ?? 0
    const border = stages
      .slice(0, -1)
      .reduce((sum, { layers: [, to] }) => sum + (layers[to - 1]?.activationBytesPerSample ?? 0), 0)
    return total + 2 * samples * border
  }, 0)
}

function peersOfPlan({ roll, hosted }: HostState, { layout }: Plan): Comparison['peers'] {
  const { microBatch } = hosted.spec.recipe.schedule
  return layout.clusters.flatMap(({ stages }) =>
    stages.flatMap(({ peer, secondsPerMicroBatch, memoryBytes }) => {
      const { samples = 0, busyMs = 0, peakTensorBytes = 0 } = roll.get(peer)?.progress ?? {}
      const count = samples / microBatch
      if (count < enoughMicroBatches || secondsPerMicroBatch <= 0 || busyMs <= 0) return []
      const slower = busyMs / 1000 / count / secondsPerMicroBatch
      return [{ peer, slower, memoryBytes, peakTensorBytes }]
    }),
  )
}
