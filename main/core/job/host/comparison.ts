/** The forecast beside the truth, at the end of a run. */
import { bytesShare } from '../../../../shared/codec/codec.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { Bytes, Seconds } from '../../../../shared/units.ts'
import { profileOf, withFlops } from '../../model/profile.ts'
import { withEverybody } from '../../planner/availability.ts'
import { judgingSeconds, planRates } from '../../planner/plan-rate.ts'
import type { SharedProcessors } from '../../planner/shared-processors.ts'
import type { PeerTruth, PlanForecast } from '../learned.ts'
import { measuredPool } from '../measured-pool.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { crowdOf } from './crowd.ts'
import type { HostState } from './host-state.ts'
import { samplesTrained } from './run-report.ts'
import { sharedProcessors } from './shared-machine.ts'

export interface Comparison {
  /** Validations take so much of its seconds: the simulator, which knows training alone, is to be given them. */
  readonly forecast: ComparedFigures & { readonly judgingSeconds: Seconds }
  /** What it was made from; `rookery simulate` takes both. */
  readonly ground: PlanForecast['ground']
  /** Agents on the host's machine, and what calls and messages cost them side by side. */
  readonly shared: (Omit<SharedProcessors, 'peers'> & { readonly peers: readonly PeerId[] }) | null
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

/** Of a plan that is about to train, while everybody is there. What members lend was corrected before. */
export function forecastOf(
  host: HostState,
  plan: Plan,
  expected: ReturnType<typeof measuredPool>,
): PlanForecast {
  const pool = withEverybody(expected)
  const { graph, recipe } = host.hosted.spec
  const here = sharedProcessors(host.roll.all, host.ports.links.self, host.hosted.processors)
  const shared = here && { ...here, crowd: crowdOf(host) }
  const profile = withFlops(profileOf(graph, recipe), host.hosted.layerFlops)
  const rates = planRates(pool, profile, plan, shared)
  return {
    rates,
    secondsPerJudged: judgingSeconds({ pool, profile }, plan, { rates, shared }),
    ground: { pool, profile },
    shared,
    from: { seconds: host.secondsTrained, samples: samplesTrained(host), judged: host.judged },
  }
}

/** The plan that the forecast is for begins to train. */
export function beginComparison(host: HostState): void {
  const from = { seconds: host.secondsTrained, samples: samplesTrained(host), judged: host.judged }
  if (host.forecast !== undefined) host.forecast = { ...host.forecast, from }
}

/** Undefined before a plan has trained. */
export function compare(host: HostState): Comparison | undefined {
  const { forecast, plan } = host
  if (forecast === undefined || plan === undefined) return undefined
  const samples = samplesTrained(host) - forecast.from.samples
  const seconds = (host.secondsAtEnd ?? host.secondsTrained) - forecast.from.seconds
  if (samples <= 0 || seconds <= 0) return undefined
  const judging = (host.judged - forecast.from.judged) * forecast.secondsPerJudged
  const expected = trainingSeconds(host, plan, forecast) + judging
  return {
    ground: forecast.ground,
    shared: sharedInReport(forecast.shared),
    forecast: {
      samplesPerSecond: samples / expected,
      seconds: expected,
      judgingSeconds: judging,
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

/** As JSON has it. */
function sharedInReport(shared: SharedProcessors | undefined): Comparison['shared'] {
  return shared === undefined ? null : { ...shared, peers: [...shared.peers] }
}

/** All clusters make as many updates: what they trained lasts as long as the slowest of them takes for its part. */
function trainingSeconds({ roll }: HostState, { layout, active }: Plan, { rates }: PlanForecast): Seconds {
  const seconds = active.map((cluster, index) => {
    const samples = roll.get(layout.clusters[cluster]?.stages[0]?.peer ?? '')?.progress?.samples ?? 0
    return samples / (rates[index] ?? Infinity)
  })
  return Math.max(...seconds)
}

/** Both ways over every border, for the samples that each cluster trained. */
function pipelineBytes(host: HostState, { layout }: Plan): Bytes {
  const { graph, recipe } = host.hosted.spec
  const { layers } = profileOf(graph, recipe)
  return layout.clusters.reduce((total, { stages }) => {
    const samples = host.roll.get(stages[0]?.peer ?? '')?.progress?.samples ?? 0
    const border = stages.slice(0, -1).reduce((sum, { layers: [, to], codec = 'fp32' }) => {
      const exact = layers[to - 1]?.activationBytesPerSample ?? 0
      return sum + exact * bytesShare(codec)
    }, 0)
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
