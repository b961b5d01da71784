/** `rookery simulate`: a job on a pool from a file, without the pool. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { recipe as recipeSchema } from '../../../shared/job/recipe.ts'
import type { DoesNotFit } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { profileOf } from '../../core/model/profile.ts'
import { checkPool, checkProfile } from '../../core/planner/check-pool.ts'
import { simulatePool, type SimulationReport, type Trace } from '../../simulation/report.ts'
import { parseStragglers } from '../../simulation/stragglers.ts'
import { resolveModel } from '../models.ts'

export interface SimulateTask {
  readonly pool: Pool
  /** A preset's name or the path of a graph file; or else a profile. */
  readonly model?: string
  readonly profile?: ModelProfile
  readonly seed: number
  readonly minutes: number
  /** `none`, `lognormal:S` or `normal:S`. */
  readonly stragglers: string
  readonly loss: number
  readonly churn?: { readonly meanMinutes: number; readonly backMinutes: number }
  readonly trace: boolean
}

const secondsAMinute = 60

/** @throws InvalidInputError for a model that is no model, or chances that are none */
export async function simulateTask(
  task: SimulateTask,
): Promise<{ readonly report: SimulationReport | DoesNotFit; readonly trace: Trace | undefined }> {
  const { pool, seed, minutes, loss, churn, trace } = task
  const stragglers = parseStragglers(task.stragglers)
  const model = await modelOf(task)
  return simulatePool({
    ...{ pool: checkPool(pool), ...model, seed, minutes, stragglers, loss, trace },
    ...(churn === undefined
      ? {}
      : {
          churn: {
            meanSeconds: churn.meanMinutes * secondsAMinute,
            backSeconds: churn.backMinutes * secondsAMinute,
          },
        }),
  })
}

/** A model runs as a job would run it, a profile with the numbers that it names. */
async function modelOf({ model, profile }: SimulateTask) {
  if (profile !== undefined) return { profile: checkProfile(profile) }
  if (model === undefined) throw new InvalidInputError('give a model or a profile')
  const recipe = recipeSchema.parse({})
  return { profile: profileOf(await resolveModel(model), recipe), recipe }
}
