/** What this PC lends to a job: memory by the settings, speed by a real stage step. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../../shared/settings.ts'
import type { DeviceReport } from '../../shared/messages/wire.ts'
import { measureSpeed } from '../core/job/benchmark.ts'
import type { StageEngine } from '../core/ports.ts'
import { createBenchmarkCache } from '../edge/device/benchmark-cache.ts'
import { describeDevice, memoryBudget } from '../edge/device/device.ts'
import { realClock } from './clock.ts'
import { version } from './version.ts'

/** @throws DeviceMemoryError, InvariantError when the speed cannot be measured */
export async function reportDevice(
  home: string,
  settings: Settings,
  engine: StageEngine,
): Promise<DeviceReport> {
  const { cpuModel } = await describeDevice()
  const cache = createBenchmarkCache(join(home, 'benchmark.json'))
  const measure = () => measureSpeed({ engine, clock: realClock })
  return {
    displayName: displayNameOf(settings),
    backend: engine.backend,
    memoryBytes: await memoryBudget({ setting: settings.limits.memoryBytes }),
    flopsPerSecond: await cache.speed({ backend: engine.backend, cpuModel, version }, measure),
  }
}

/** What other members see of us. */
export function displayNameOf(settings: Settings): string {
  return (settings.displayName === '' ? hostname() : settings.displayName).slice(0, 60)
}
