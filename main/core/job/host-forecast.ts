/** How long a job would take with one to many PCs like this one: the planner's own answer, near and far. */
import type { Recipe } from '../../../shared/job/recipe.ts'
import type { HostForecast } from '../../../shared/messages/cards.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { Pool } from '../../../shared/plan/pool.ts'
import { type Bytes, type BytesPerSecond, hour, type Seconds, second } from '../../../shared/units.ts'
import { apart, assumedPeer, type Line, nearby } from './assumed-lines.ts'
import { layoutOfJob } from './job-layout.ts'
import type { LentPc } from './join-estimate.ts'
import { planUploads } from '../planner/plan-rate.ts'
import { profileOf } from '../model/profile.ts'
import { planInForce } from './plan-in-force.ts'

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
  return {
    peers: Array.from({ length: peers }, (_, index) => assumedPeer(`pc-${index + 1}`, pc, line)),
    links: [],
    defaultLatencySeconds: line.latencySeconds,
  }
}

/** What a plan comes to. */
interface Planned {
  /** Until the slowest cluster has made its updates. */
  readonly seconds: Seconds
  readonly samplesPerSecond: number
  readonly memoryBytes: Bytes
  readonly uploadBytesPerSecond: BytesPerSecond
}

/** Undefined: the model does not fit. */
function planFor(request: ForecastRequest, peers: number, line: Line): Planned | undefined {
  const { graph, recipe, updates, seed, clusters, pc } = request
  const pool = poolOf(pc, peers, line)
  const layout = layoutOfJob({ pool, graph, recipe, seed, clusters })
  if ('feasible' in layout) return undefined
  const plan = planInForce(layout, recipe, 1)
  const rates = layout.clusters.map(({ samplesPerSecond }) => samplesPerSecond)
  const stages = layout.clusters.flatMap((cluster) => cluster.stages)
  return {
    seconds: (updates * plan.accumulate * recipe.schedule.microBatch) / Math.min(...rates),
    samplesPerSecond: layout.samplesPerSecond,
    memoryBytes: Math.max(...stages.map(({ memoryBytes }) => memoryBytes)),
    uploadBytesPerSecond: Math.max(...planUploads({ pool, profile: profileOf(graph, recipe) }, plan, rates)),
  }
}

const nothing: Omit<Row, 'peers' | 'fits'> = {
  seconds: [0, 0],
  samplesPerSecond: [0, 0],
  memoryBytes: 0,
  uploadBytesPerHour: 0,
}

/** One row of the forecast. Takes up to a second for many PCs: not for a thread that others wait for. */
export function forecastRow(request: ForecastRequest, peers: number): Row {
  const near = planFor(request, peers, nearby)
  const far = planFor(request, peers, apart)
  if (near === undefined || far === undefined) return { peers, fits: false, ...nothing }
  const [least, most] = request.spread
  const ends = (of: keyof Planned): [number, number] => [
    Math.min(near[of], far[of]),
    Math.max(near[of], far[of]),
  ]
  const [seconds, rates] = [ends('seconds'), ends('samplesPerSecond')]
  return {
    peers,
    fits: true,
    seconds: [least * seconds[0], most * seconds[1]],
    samplesPerSecond: [rates[0] / most, rates[1] / least],
    memoryBytes: ends('memoryBytes')[1],
    uploadBytesPerHour: (hour / second) * ends('uploadBytesPerSecond')[1],
  }
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
