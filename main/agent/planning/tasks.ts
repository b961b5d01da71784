/** What the planning thread can be asked: a name, what goes in, what comes back. All of it survives a structured clone. */
import type { HostForecast } from '../../../shared/messages/cards.ts'
import type { DoesNotFit, Layout } from '../../../shared/plan/plan.ts'
import { forecastRow, type ForecastRequest } from '../../core/job/host-forecast.ts'
import { layoutOfJob, type LayoutRequest } from '../../core/job/job-layout.ts'

export interface PlanningTasks {
  plan: { in: LayoutRequest; out: Layout | DoesNotFit }
  /** A row for each number of peers. */
  forecast: {
    in: { request: ForecastRequest; peers: readonly number[] }
    out: HostForecast['byPeers']
  }
}
export type PlanningTask = keyof PlanningTasks

type Deeds = { readonly [N in PlanningTask]: (input: PlanningTasks[N]['in']) => PlanningTasks[N]['out'] }

export const planningDeeds: Deeds = {
  plan: layoutOfJob,
  forecast: ({ request, peers }) => peers.map((count) => forecastRow(request, count)),
}
