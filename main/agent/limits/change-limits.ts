/** A change of the limits: checked, in the settings file. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { limits as limitsSchema, type Limits, type LimitsChange } from '../../../shared/limits.ts'
import { describeIssue } from '../../../shared/settings.ts'
import { hoursInForce } from '../../core/limits/hours.ts'
import { leastBytesPerSecond } from '../../core/limits/judge.ts'
import { loadSettings, saveSettings } from '../../edge/store/settings-file.ts'

/** What is absent or undefined stays as it is; whole days in `hours` mean all hours. @throws InvalidInputError for limits that no job could live with */
export function changedLimits(before: Limits, change: LimitsChange): Limits {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const parsed = limitsSchema.safeParse({ ...before, ...given })
  if (!parsed.success) throw new InvalidInputError(`limits: ${describeIssue(parsed.error)}`)
  const { hours, ...others } = parsed.data
  for (const name of ['uploadBytesPerSecond', 'downloadBytesPerSecond'] as const)
    if (others[name] > 0 && others[name] < leastBytesPerSecond)
      throw new InvalidInputError(
        `limits: ${name}: below ${leastBytesPerSecond} bytes a second no job can live; take 0 for no cap, or pause`,
      )
  const week = hoursInForce(hours)
  return { ...others, ...(week === undefined ? {} : { hours: week }) }
}

/** Change the limits in a home's settings file; every other setting stays. @throws InvalidInputError, DiskFullError */
export async function saveLimits(home: string, change: LimitsChange): Promise<Limits> {
  const settings = await loadSettings(home)
  const limits = changedLimits(settings.limits, change)
  await saveSettings(home, { ...settings, limits })
  return limits
}
