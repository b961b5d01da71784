/** The learning rate over updates. */
import type { LearningRateSchedule } from '../../../shared/job/recipe.ts'

/**
 * The factor of the optimizer's learning rate for one update.
 *
 * Warm-up over n updates rises linearly: 1/(n+1), 2/(n+1), … n/(n+1). After it, `step` multiplies by its factor
 * at every whole multiple of `everyUpdates`, counted from the first update of all; `cosine` falls from 1 at the
 * end of the warm-up to its final factor at `totalUpdates` and stays there.
 *
 * @param update - number of the update, from 0
 */
export function learningRateFactor(schedule: LearningRateSchedule, update: number): number {
  const warmup = schedule.warmupUpdates
  if (update < warmup) return (update + 1) / (warmup + 1)
  switch (schedule.type) {
    case 'constant':
      return 1
    case 'step':
      return schedule.factor ** Math.floor(update / schedule.everyUpdates)
    case 'cosine': {
      const share = Math.min(1, (update - warmup) / Math.max(1, schedule.totalUpdates - warmup))
      return schedule.finalFactor + ((1 - schedule.finalFactor) * (1 + Math.cos(Math.PI * share))) / 2
    }
  }
}
