/** From a layout to a plan in force, every number of the schedule decided. */
import type { Layout, Plan } from '../../shared/plan/plan.ts'
import type { ModelProfile } from '../../shared/plan/pool.ts'

/** As the profile says, with the same credits everywhere. */
export function scheduleOfProfile(layout: Layout, { accumulate, inFlight }: ModelProfile): Plan {
  const active = layout.clusters.map((_, cluster) => cluster)
  return { number: 1, layout, accumulate, inFlight: active.map(() => inFlight), active }
}
