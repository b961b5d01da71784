/**
 * A job on a pool, without the pool: the real pipeline and averaging of every participant on a virtual clock, their
 * engines as fast as the profile says, their links as wide as the pool's file.
 */
import { createRng, seedFrom } from '../../shared/random.ts'
import { minute, second } from '../../shared/units.ts'
import { Membership } from './churn.ts'
import { type Figures, figuresOf, usesOf } from './figures.ts'
import type { SimulationRequest } from './request.ts'
import { SimulatedPool } from './simulated-pool.ts'

/** Pipelines are full by then. */
const warmShare = 0.1

/** The same request gives the same figures. */
export async function simulate(request: SimulationRequest): Promise<Figures> {
  const { minutes, churn, seed, layout, schedule, watch } = request
  const untilMs = minutes * minute
  const warmMs = warmShare * untilMs
  const simulated = new SimulatedPool({ ...request, warmMs })
  const membership =
    churn === undefined
      ? undefined
      : new Membership({ ...request, simulated, churn, rng: createRng(seedFrom(seed, 'churn')) })
  simulated.begin(schedule(layout))
  membership?.begin()
  await simulated.runTo(warmMs)
  const before = usesOf(request.pool, simulated.network)
  await simulated.runTo(untilMs)
  watch?.event('the end', untilMs)
  return figuresOf({ simulated, request, before, membership, seconds: (untilMs - warmMs) / second })
}
