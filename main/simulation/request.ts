/** What is simulated: the pool and the model, the plan, and how uneven life is. */
import type { Layout, Plan } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../shared/plan/pool.ts'
import type { SharedProcessors } from '../core/planner/shared-processors.ts'
import type { Churn } from './churn.ts'
import type { Watcher } from './simulated-pool.ts'
import type { Stragglers } from './stragglers.ts'

export interface SimulationRequest {
  readonly pool: Pool
  readonly profile: ModelProfile
  /** The plan to begin with, and how later ones get their numbers. */
  readonly layout: Layout
  readonly schedule: (layout: Layout) => Plan
  readonly seed: number
  readonly minutes: number
  readonly stragglers: Stragglers
  /** Share of the pieces that get lost on the way. */
  readonly loss: number
  /** Absent: nobody goes. */
  readonly churn?: Churn
  /** Each cluster ends after so many updates, as a job does; absent: none does. */
  readonly targetUpdates?: number
  /** These participants are on one machine; absent: each has its own. */
  readonly shared?: SharedProcessors
  readonly watch?: Watcher
}
