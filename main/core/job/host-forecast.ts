/** How long a job would take with one to many PCs like this one: the planner's own answer, near and far. */
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { HostForecast } from '../../../shared/messages/cards.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import type { Pool } from '../../../shared/plan/pool.ts'
import { layoutOfJob } from './job-layout.ts'
import type { LentPc } from './join-estimate.ts'
import { planInForce } from './plan-in-force.ts'

/** One home network, and homes of a usual broadband line: 10 Mbit/s up, 50 down. */
const nearby = { upload: 50e6, download: 50e6, latencySeconds: 0.001 }
const apart = { upload: 1.25e6, download: 6.25e6, latencySeconds: 0.02 }
type Line = typeof nearby

export interface ForecastRequest {
  readonly graph: ModelGraph
  readonly recipe: Recipe
  readonly updates: number
  readonly seed: number
  /** Clusters that the host wants; undefined: the planner's choice. */
  readonly clusters: number | undefined
  readonly pc: LentPc
  /** Least and most that the plan's seconds are multiplied by. */
  readonly spread: readonly [number, number]
}

type Row = HostForecast['byPeers'][number]

function poolOf(pc: LentPc, peers: number, line: Line): Pool {
  const within = (rate: number, cap: number) => (cap === 0 ? rate : Math.min(rate, cap))
  return {
    peers: Array.from({ length: peers }, (_, index) => ({
      id: `pc-${index + 1}`,
      memoryBytes: pc.memoryBytes,
      flopsPerSecond: pc.flopsPerSecond,
      uploadBytesPerSecond: within(line.upload, pc.uploadBytesPerSecond),
      downloadBytesPerSecond: within(line.download, pc.downloadBytesPerSecond),
    })),
    links: [],
    defaultLatencySeconds: line.latencySeconds,
  }
}

/** Seconds until the slowest cluster has made its updates. */
function secondsOf(layout: Layout, { recipe, updates }: ForecastRequest): number {
  const { accumulate } = planInForce(layout, recipe, 1)
  const slowest = Math.min(...layout.clusters.map((cluster) => cluster.samplesPerSecond))
  return (updates * accumulate * recipe.schedule.microBatch) / slowest
}

function planFor(request: ForecastRequest, peers: number, line: Line): number | undefined {
  const { graph, recipe, seed, clusters, pc } = request
  const layout = layoutOfJob({ pool: poolOf(pc, peers, line), graph, recipe, seed, clusters })
  return 'feasible' in layout ? undefined : secondsOf(layout, request)
}

/** One row of the forecast. Takes up to a second for many PCs: not for a thread that others wait for. */
export function forecastRow(request: ForecastRequest, peers: number): Row {
  const near = planFor(request, peers, nearby)
  const far = planFor(request, peers, apart)
  if (near === undefined || far === undefined) return { peers, seconds: [0, 0], fits: false }
  const [least, most] = request.spread
  return { peers, seconds: [least * Math.min(near, far), most * Math.max(near, far)], fits: true }
}

/** What the rows say in one sentence. */
export function limitedBy(rows: readonly Row[], [least, most]: readonly [number, number]): string {
  const fitting = rows.filter(({ fits }) => fits)
  const [fewest] = fitting
  const last = fitting.at(-1)
  if (fewest === undefined || last === undefined)
    return `The model does not fit into the memory of ${rows.length === 1 ? 'this PC' : 'so few PCs'}.`
  if (fewest.peers < last.peers && last.seconds[0] > 0.9 * fewest.seconds[0])
    return 'More PCs do not shorten it: each group of them makes all the updates, so they train on more samples instead.'
  if (fewest.peers > 1) return `The model fits from ${fewest.peers} PCs like this one on.`
  const [low, high] = last.seconds
  // The two ends are the same plan on different lines, apart from the allowance for what a plan does not know.
  return (high / low) * (least / most) > 1.5
    ? 'The lines between the PCs limit it: at home together they are much faster than over the internet.'
    : 'The processors limit it; the lines between the PCs carry enough.'
}
