/** The engine of one job: measured as it is, then used no more than its owner allows. */
import type { DeviceReport } from '../../shared/messages/wire.ts'
import { createRestingEngine, type RestingEngine } from '../core/limits/duty.ts'
import type { AgentParts, EngineThread } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { reportDevice } from './device.ts'

export interface JobEngine extends RestingEngine {
  readonly device: DeviceReport
}

/** @throws DeviceMemoryError, InvariantError when the speed cannot be measured */
export async function lendEngine(parts: AgentParts, thread: EngineThread): Promise<JobEngine> {
  const device = await reportDevice(parts.home, parts.settings, thread)
  const share = () => parts.settings.limits.computeShare
  return { device, ...createRestingEngine(thread, realClock, { share }) }
}
