/** `rookery plan`: the planner on a pool from a file. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { DoesNotFit, Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import type { Seconds } from '../../../shared/units.ts'
import { profileOf } from '../../core/model/profile.ts'
import { checkPool, checkProfile } from '../../core/planner/check-pool.ts'
import { planPool } from '../../core/planner/plan-pool.ts'
import { resolveModel } from '../models.ts'

export interface PlanTask {
  readonly pool: Pool
  /** A preset's name or the path of a graph file; or else a profile. */
  readonly model?: string
  readonly profile?: ModelProfile
  readonly seed: number
}

/** @throws InvalidInputError for a model that is no model */
export async function planTask({
  pool,
  model,
  profile,
  seed,
}: PlanTask): Promise<(Layout & { readonly feasible: true; readonly planSeconds: Seconds }) | DoesNotFit> {
  const known =
    profile ?? (model === undefined ? undefined : profileOf(await resolveModel(model), recipe.parse({})))
  if (known === undefined) throw new InvalidInputError('give a model or a profile')
  const startedMs = performance.now()
  const layout = planPool({ pool: checkPool(pool), profile: checkProfile(known), seed })
  if ('feasible' in layout) return layout
  return { feasible: true, ...layout, planSeconds: (performance.now() - startedMs) / 1000 }
}
