/** A simulation from pool to answer: the plan, its figures, what the cost model says, and why it is slow. */
import { InvalidInputError } from '../../shared/errors.ts'
import type { Recipe } from '../../shared/job/recipe.ts'
import type { DoesNotFit, Layout } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../shared/plan/pool.ts'
import { planInForce } from '../core/job/plan-in-force.ts'
import { withEverybody } from '../core/planner/availability.ts'
import { planPool } from '../core/planner/plan-pool.ts'
import { planRates } from '../core/planner/plan-rate.ts'
import type { Churn } from './churn.ts'
import type { Figures } from './figures.ts'
import { scheduleOfProfile } from './schedules.ts'
import type { SimulationRequest } from './request.ts'
import { simulate } from './simulate.ts'
import type { Stragglers } from './stragglers.ts'
import { createTimeline, type TraceEvent } from './timeline.ts'
import { type Bottleneck, bottleneckOf, type Remedy, remediesFor } from './why-slow.ts'

export interface ReportRequest {
  readonly pool: Pool
  readonly profile: ModelProfile
  /** Of a job: its plan puts numbers where the recipe leaves them open. Absent: the profile's numbers. */
  readonly recipe?: Recipe
  readonly seed: number
  readonly minutes: number
  readonly stragglers: Stragglers
  readonly loss: number
  readonly churn?: Churn
  readonly trace: boolean
}

export interface RemedyFigures {
  readonly change: string
  readonly samplesPerSecond: number
  /** Of the rate without it; 0.5: half as much again. */
  readonly gain: number
  readonly by: 'simulation' | 'cost model'
}

export interface SimulationReport extends Figures {
  readonly feasible: true
  readonly seed: number
  readonly clusters: number
  /** What the cost model says of the first plan. */
  readonly modelledSamplesPerSecond: number
  readonly whySlow: Bottleneck
  /** The greatest gain first. */
  readonly remedies: readonly RemedyFigures[]
}

export interface Trace {
  readonly traceEvents: readonly TraceEvent[]
  readonly complete: boolean
}

/** Micro-batches through stages, of all simulated remedies together; beyond, the cost model tells. */
const mostSimulated = 100_000
/** The same of the simulation itself: half an hour of work. */
const mostSteps = 50_000_000

/** The same request gives the same report. */
export async function simulatePool(
  request: ReportRequest,
): Promise<{ readonly report: SimulationReport | DoesNotFit; readonly trace: Trace | undefined }> {
  const { pool, profile, recipe, seed, trace } = request
  const layout = planPool({ pool, profile, seed })
  if ('feasible' in layout) return { report: layout, trace: undefined }
  const schedule = (of: Layout) =>
    recipe === undefined ? scheduleOfProfile(of, profile) : planInForce(of, recipe, 1)
  checkLength(layout, request)
  const timeline = trace ? createTimeline(pool) : undefined
  const simulation: SimulationRequest = {
    ...{ ...request, layout, schedule },
    ...(timeline === undefined ? {} : { watch: timeline }),
  }
  const figures = await simulate(simulation)
  const plan = schedule(layout)
  const whySlow = bottleneckOf(figures)
  const remedies = remediesFor({ pool, profile, plan }, whySlow)
  const report: SimulationReport = {
    ...{ feasible: true, seed, clusters: layout.clusters.length, ...figures },
    modelledSamplesPerSecond: sum(planRates(withEverybody(pool), profile, plan)),
    whySlow,
    remedies: await gainsOf(remedies, { simulation, figures }),
  }
  return { report, trace: timeline?.events() }
}

/** @throws InvalidInputError for more than a person would wait for */
function checkLength({ clusters }: Layout, { profile, minutes }: ReportRequest): void {
  const rates = clusters.map(({ samplesPerSecond, stages }) => samplesPerSecond * stages.length)
  const steps = (sum(rates) / profile.microBatch) * minutes * secondsAMinute
  if (steps > mostSteps)
    throw new InvalidInputError(
      `this pool would make ${steps.toExponential(1)} steps in ${minutes} minutes; simulate fewer minutes, or check the FLOPs of the model`,
    )
}

const secondsAMinute = 60

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Of a pool in which everybody stays: chance would drown what one change brings. */
async function gainsOf(
  remedies: readonly Remedy[],
  { simulation, figures }: { simulation: SimulationRequest; figures: Figures },
): Promise<RemedyFigures[]> {
  const { profile, pool, layout, schedule, churn } = simulation
  const depth = figures.participants / layout.clusters.length
  const steps = (figures.samples / profile.microBatch) * depth * remedies.length
  const by = steps <= mostSimulated && figures.samplesPerSecond > 0 ? 'simulation' : 'cost model'
  const rateOf = async (changed: Omit<Remedy, 'change'>) =>
    by === 'cost model'
      ? sum(planRates(changed.pool, changed.profile, changed.plan))
      : (await simulate(calm(simulation, changed))).samplesPerSecond
  const isKnown = by === 'simulation' && churn === undefined
  const usual = isKnown ? figures.samplesPerSecond : await rateOf({ pool, profile, plan: schedule(layout) })
  const gains: RemedyFigures[] = []
  for (const remedy of remedies) {
    const gain = (await rateOf(remedy)) / usual - 1
    gains.push({ change: remedy.change, samplesPerSecond: figures.samplesPerSecond * (1 + gain), gain, by })
  }
  return gains.toSorted((one, other) => other.gain - one.gain)
}

/** The same plan with another pool or schedule; nobody goes, and nobody looks at its timeline. */
function calm(
  simulation: SimulationRequest,
  { pool, profile, plan }: Omit<Remedy, 'change'>,
): SimulationRequest {
  const { watch: _unwatched, churn: _calm, ...rest } = simulation
  return { ...rest, pool, profile, schedule: () => plan }
}
