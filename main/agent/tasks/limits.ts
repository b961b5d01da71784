/** `rookery limits` on a home whose agent does not run: the settings file alone. */
import type { Limits, LimitsChange, LimitState } from '../../../shared/limits.ts'
import { judgeLimits } from '../../core/limits/judge.ts'
import { programsThatRun } from '../../core/limits/programs.ts'
import { runsOnBattery } from '../../edge/device/battery.ts'
import { runningPrograms } from '../../edge/device/programs.ts'
import { openHome } from '../../edge/store/home.ts'
import { loadSettings } from '../../edge/store/settings-file.ts'
import { saveLimits } from '../limits/change-limits.ts'
import { wallTime } from '../limits/wall-time.ts'

export interface LimitsShown {
  readonly limits: Limits
  /** As they would hold an agent back now. */
  readonly states: readonly LimitState[]
}

/** @throws InvalidInputError for a settings file that cannot be used, or a change that is none; DiskFullError */
export async function limitsTask(task: {
  readonly home: string
  readonly change?: LimitsChange
}): Promise<LimitsShown> {
  const home = await openHome(task.home)
  const limits =
    task.change === undefined ? (await loadSettings(home)).limits : await saveLimits(home, task.change)
  const onBattery = limits.trainOnBattery ? undefined : await runsOnBattery().catch(() => undefined)
  const programs = limits.pausePrograms.length === 0 ? [] : await runningPrograms()
  const { weekday, minuteOfDay } = wallTime()
  return {
    limits,
    states: judgeLimits(limits, {
      ...(onBattery === undefined ? {} : { onBattery }),
      programs: programsThatRun(limits.pausePrograms, programs),
      ...{ weekday, minuteOfDay },
    }),
  }
}
