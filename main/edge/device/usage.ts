/** What this process uses of the PC: all its threads, the engine's among them. */
import { availableParallelism } from 'node:os'
import type { Bytes, Millis } from '../../../shared/units.ts'

export interface Usage {
  /** Of all cores, 0 to 1, since the sample before. */
  readonly cpuShare: number
  /** In RAM; tensors of an engine on the processor are part of it. */
  readonly memoryBytes: Bytes
}

export interface UsageSource {
  /** Processor time of the process so far, microseconds. */
  readonly cpuMicros: () => number
  readonly residentBytes: () => Bytes
  readonly nowMs: () => Millis
  readonly cores: number
}

const thisProcess: UsageSource = {
  cpuMicros: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  residentBytes: () => process.memoryUsage.rss(),
  nowMs: () => performance.now(),
  cores: availableParallelism(),
}

/** A meter that costs nothing between samples. */
export function createUsageMeter(source: UsageSource = thisProcess): () => Usage {
  let before = { atMs: source.nowMs(), cpuMicros: source.cpuMicros() }
  return () => {
    const now = { atMs: source.nowMs(), cpuMicros: source.cpuMicros() }
    const passedMicros = (now.atMs - before.atMs) * 1000 * source.cores
    const share = passedMicros > 0 ? (now.cpuMicros - before.cpuMicros) / passedMicros : 0
    before = now
    return { cpuShare: Math.min(1, Math.max(0, share)), memoryBytes: source.residentBytes() }
  }
}
