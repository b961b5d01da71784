/** `rookery plan`: the planner on a pool from a file. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { DoesNotFit, Layout, PreviousPlan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'
import { profileOf } from '../../core/model/profile.ts'
import { checkPool, checkProfile } from '../../core/planner/check-pool.ts'
import { planPool, type PlanRequest } from '../../core/planner/plan-pool.ts'
import { type Bottleneck, bottleneckOf } from '../../core/planner/relief/relief.ts'
import { replan, type Replanned } from '../../core/planner/replan.ts'
import { resolveModel } from '../models.ts'

export interface PlanTask {
  readonly pool: Pool
  /** A preset's name or the path of a graph file; or else a profile. */
  readonly model?: string
  readonly profile?: ModelProfile
  readonly seed: number
  /** The clusters in force: keep what can stay. */
  readonly previous?: PreviousPlan['clusters']
}

type Planned = Layout & Partial<Omit<Replanned, 'layout'>>

/** @throws InvalidInputError for a model that is no model */
export async function planTask({
  pool,
  model,
  profile,
  seed,
  previous,
}: PlanTask): Promise<
  | (Planned & { readonly feasible: true; readonly planSeconds: Seconds; readonly bottleneck: Bottleneck })
  | DoesNotFit
> {
  const known =
    profile ?? (model === undefined ? undefined : profileOf(await resolveModel(model), recipe.parse({})))
  if (known === undefined) throw new InvalidInputError('give a model or a profile')
  const startedMs = performance.now()
  const request = { pool: checkPool(pool), profile: checkProfile(known), seed }
  const planned = plannedFor(request, previous)
  if ('feasible' in planned) return planned
  const planSeconds = (performance.now() - startedMs) / 1000
  return {
    feasible: true,
    ...planned,
    planSeconds,
    bottleneck: bottleneckOf({ ...request, layout: planned }),
  }
}

function plannedFor(request: PlanRequest, previous: PlanTask['previous']): Planned | DoesNotFit {
  if (previous === undefined) return planPool(request)
  const answer = replan(
    request,
    previous.map(({ stages }) => stages),
  )
  if ('feasible' in answer) return answer
  const { layout, ...moves } = answer
  return { ...layout, ...moves }
}
