/** What this PC lends to a job: memory by the settings, speed by a real stage step. */
import { join } from 'node:path'
import type { Settings } from '../../shared/settings.ts'
import type { DeviceReport } from '../../shared/messages/wire.ts'
import { measureSpeed } from '../core/job/benchmark.ts'
import { measureCalls } from '../core/job/call-cost.ts'
import type { LentPc } from '../core/job/join-estimate.ts'
import type { StageEngine } from '../core/ports.ts'
import { createBenchmarkCache, type EngineSpeed } from '../edge/device/benchmark-cache.ts'
import { describeDevice, memoryBudget } from '../edge/device/device.ts'
import type { AgentParts } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { computingThreads } from './computing-threads.ts'
import { displayNameOf } from './display-name.ts'
import { version } from './version.ts'

const cacheOf = (home: string) => createBenchmarkCache(join(home, 'benchmark.json'))

/** How fast an engine trains on this PC: as it was measured before, or measured now. @throws InvariantError */
export async function speedOf(
  home: string,
  engine: StageEngine,
  threadsSetting: number,
): Promise<EngineSpeed> {
  const { cpuModel } = await describeDevice()
  const threads = await computingThreads(threadsSetting)
  const measure = async () => ({
    flopsPerSecond: await measureSpeed({ engine, clock: realClock }),
    callSeconds: await measureCalls({ engine, clock: realClock }),
  })
  return cacheOf(home).speed({ backend: engine.backend, cpuModel, version, threads }, measure)
}

/** @throws DeviceMemoryError, InvariantError when the speed cannot be measured */
export async function reportDevice(
  home: string,
  settings: Settings,
  engine: StageEngine,
): Promise<DeviceReport> {
  const measured = await speedOf(home, engine, settings.engine.threads)
  return {
    displayName: displayNameOf(settings),
    backend: engine.backend,
    memoryBytes: await memoryBudget({ setting: settings.limits.memoryBytes }),
    ...lentSpeed(measured, settings.limits),
  }
}

/** What it can do in the share of the time that its owner allows. */
const lentSpeed = ({ flopsPerSecond, callSeconds }: EngineSpeed, { computeShare }: Settings['limits']) => ({
  flopsPerSecond: flopsPerSecond * computeShare,
  callSeconds: callSeconds / computeShare,
})

/**
 * What this PC would lend to a job that begins now. Where its speed was never measured, that is done first, on an
 * engine of its own: it takes some seconds once.
 *
 * @throws DeviceMemoryError
 */
export async function lentPc(parts: AgentParts): Promise<LentPc> {
  const { limits } = parts.settings
  const { uploadBytesPerSecond, downloadBytesPerSecond } = limits
  const { cpuModel } = await describeDevice()
  const threads = await computingThreads(parts.settings.engine.threads)
  const known = await cacheOf(parts.home).latest({ cpuModel, version, threads })
  const caps = { uploadBytesPerSecond, downloadBytesPerSecond }
  if (known !== undefined) {
    const memoryBytes = await memoryBudget({ setting: limits.memoryBytes })
    return { memoryBytes, ...lentSpeed(known, limits), ...caps }
  }
  const engine = await parts.startEngine()
  try {
    const { memoryBytes, flopsPerSecond, callSeconds } = await reportDevice(
      parts.home,
      parts.settings,
      engine,
    )
    return { memoryBytes, flopsPerSecond, callSeconds, ...caps }
  } finally {
    await engine.stop()
  }
}
