/** Remembers how fast this PC measured itself, so that not every start costs a second of full load. */
import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import { type FlopsPerSecond, type Millis, type Seconds, hour } from '../../../shared/units.ts'

/** Drivers, power profiles and dust change a PC's speed: measure again after this. */
export const benchmarkMaxAge: Millis = 14 * 24 * hour

/** A cache of ours is below 10 kB; anything larger is not ours and is not read. */
const maxFileBytes = 64 * 1024
/** Backend × threads × processor × version; the oldest go first. */
const maxEntries = 32

const entry = z.strictObject({
  backend: z.string().min(1).max(40),
  cpuModel: z.string().min(1).max(200),
  /** Version of the program, since a faster kernel makes an old number wrong. */
  version: z.string().min(1).max(40),
  /** That computed. */
  threads: z.int().min(1).max(64).default(1),
  measuredAt: z.iso.datetime(),
  flopsPerSecond: z.number().positive(),
  callSeconds: z.number().min(0),
})
type Entry = z.infer<typeof entry>

const cacheFile = z.strictObject({
  format: z.literal('rookery-benchmark/1'),
  entries: z.array(entry).max(maxEntries),
})

/** What a measured speed holds for. */
type MeasuredOn = Pick<Entry, 'backend' | 'cpuModel' | 'version' | 'threads'>

/** How fast an engine is. */
export interface EngineSpeed {
  readonly flopsPerSecond: FlopsPerSecond
  /** Of each call, however little it computes. */
  readonly callSeconds: Seconds
}

export interface BenchmarkCache {
  /**
   * The cached speed of this backend on this processor with this version and as many threads, or a new measurement, which is kept.
   * A cache that cannot be read or written costs a measurement, never an error; errors of `measure` pass through.
   */
  speed(on: MeasuredOn, measure: () => Promise<EngineSpeed>): Promise<EngineSpeed>
  /** What was measured last on this processor with this version, whatever the backend; undefined: nothing that still holds. */
  latest(on: Omit<MeasuredOn, 'backend'>): Promise<EngineSpeed | undefined>
}

/**
 * A cache in one JSON file, replaced whole (a reader sees the old or the new).
 *
 * @param file - its path; folders are made as needed
 * @param now - milliseconds since 1970
 */
export function createBenchmarkCache(file: string, now: () => number = Date.now): BenchmarkCache {
  return {
    async speed(on, measure) {
      const kept = (await readEntries(file)).filter((known) => isFresh(known, now()))
      const known = kept.find((candidate) => isSame(candidate, on))
      if (known !== undefined) return speedIn(known)
      const speed = await measure()
      const measuredAt = new Date(now()).toISOString()
      const entries = [...kept, { ...on, measuredAt, ...speed }].slice(-maxEntries)
      await writeEntries(file, entries)
      return speed
    },
    async latest(on) {
      const known = (await readEntries(file)).filter(
        (entry) => isFresh(entry, now()) && isSame(entry, { ...on, backend: entry.backend }),
      )
      const [newest] = known.sort((a, b) => Date.parse(b.measuredAt) - Date.parse(a.measuredAt))
      return newest === undefined ? undefined : speedIn(newest)
    },
  }
}

const speedIn = ({ flopsPerSecond, callSeconds }: Entry): EngineSpeed => ({ flopsPerSecond, callSeconds })

function isSame(left: MeasuredOn, right: MeasuredOn): boolean {
  const isSameEngine = left.backend === right.backend && left.threads === right.threads
  return isSameEngine && left.cpuModel === right.cpuModel && left.version === right.version
}

/** Not too old, and not from the future of a clock that was set back. */
function isFresh({ measuredAt }: Entry, now: number): boolean {
  const age = now - Date.parse(measuredAt)
  return age >= 0 && age <= benchmarkMaxAge
}

/** Its entries; none when the file is missing, unreadable, too large or not a cache of this format. */
async function readEntries(file: string): Promise<readonly Entry[]> {
  try {
    if ((await stat(file)).size > maxFileBytes) return []
    const parsed = cacheFile.safeParse(JSON.parse(await readFile(file, 'utf8')))
    return parsed.success ? parsed.data.entries : []
  } catch {
    return []
  }
}

async function writeEntries(file: string, entries: readonly Entry[]): Promise<void> {
  const text = `${JSON.stringify({ format: 'rookery-benchmark/1', entries }, null, 2)}\n`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFileAtomic(file, text)
  } catch {
    // A full or read-only disk: the speed is known all the same, and is measured again next time.
  }
}
