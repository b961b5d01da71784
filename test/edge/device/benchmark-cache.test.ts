/** The benchmark cache on a real folder: what it believes, what it measures again, what it leaves on disk. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InvariantError } from '../../../shared/errors.ts'
import { benchmarkMaxAge, createBenchmarkCache } from '../../../main/edge/device/benchmark-cache.ts'

const here = { backend: 'tfjs-wasm', cpuModel: 'AMD Ryzen 7 7700', version: '0.1.0', threads: 3 }
const start = Date.parse('2026-11-30T12:00:00Z')

let folder = ''
let file = ''
let measured = 0

/** Each measurement is one faster than the last, so that a cached one is recognised. */
const measure = () => Promise.resolve({ flopsPerSecond: 1e9 + ++measured, callSeconds: 0.001 })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-benchmark-'))
  file = join(folder, 'cache', 'benchmark.json')
  measured = 0
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const speedAt = async (moment: number, on = here) =>
  (await createBenchmarkCache(file, () => moment).speed(on, measure)).flopsPerSecond

describe('the benchmark cache', () => {
  it('measures once and remembers across restarts, until the result is too old', async () => {
    expect(await speedAt(start)).toBe(1e9 + 1)
    expect(await speedAt(start + benchmarkMaxAge)).toBe(1e9 + 1)
    expect(await speedAt(start + benchmarkMaxAge + 1)).toBe(1e9 + 2)
    expect(await speedAt(start + benchmarkMaxAge + 2)).toBe(1e9 + 2)
  })

  it('measures again after the clock was set back', async () => {
    await speedAt(start)
    expect(await speedAt(start - 1)).toBe(1e9 + 2)
  })

  it.each([
    ['another backend', { ...here, backend: 'wasm' }],
    ['another number of threads', { ...here, threads: 4 }],
    ['another processor', { ...here, cpuModel: 'Apple M4' }],
    ['another version of the program', { ...here, version: '0.2.0' }],
  ])('measures %s apart and keeps both', async (_name, other) => {
    await speedAt(start)
    expect(await speedAt(start, other)).toBe(1e9 + 2)
    expect(await speedAt(start)).toBe(1e9 + 1)
    expect(await speedAt(start, other)).toBe(1e9 + 2)
  })

  it('writes a whole file that names what was measured, and leaves nothing beside it', async () => {
    await speedAt(start)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      format: 'rookery-benchmark/1',
      entries: [
        { ...here, measuredAt: '2026-11-30T12:00:00.000Z', flopsPerSecond: 1e9 + 1, callSeconds: 0.001 },
      ],
    })
    expect(await readdir(join(folder, 'cache'))).toEqual(['benchmark.json'])
  })

  it.each([
    ['half a file', '{"format":"rookery-benchmark/1","entries":[{"backend":"tf'],
    ['another format', '{"format":"rookery-benchmark/2","entries":[]}'],
    ['a speed that cannot be', cacheText({ flopsPerSecond: 0 })],
    ['a date that is none', cacheText({ measuredAt: 'yesterday' })],
    ['a file of a size we never write', ' '.repeat(65 * 1024) + cacheText({})],
    ['nothing', ''],
  ])('replaces %s with a new measurement', async (_name, broken) => {
    await speedAt(start, { ...here, backend: 'other' })
    await writeFile(file, broken)
    expect(await speedAt(start)).toBe(1e9 + 2)
    expect(await speedAt(start)).toBe(1e9 + 2)
    expect(measured).toBe(2)
  })

  it('believes a whole file of its own format', async () => {
    await speedAt(start, { ...here, backend: 'other' })
    await writeFile(file, cacheText({}))
    expect(await speedAt(start)).toBe(5e9)
  })

  it('still answers when it cannot keep the result', async () => {
    await writeFile(join(folder, 'cache'), 'a file where the folder should be')
    expect(await speedAt(start)).toBe(1e9 + 1)
  })

  it('keeps nothing of a measurement that failed', async () => {
    const cache = createBenchmarkCache(file, () => start)
    await expect(cache.speed(here, () => Promise.reject(new InvariantError('no clock')))).rejects.toThrow(
      'no clock',
    )
    expect(await speedAt(start)).toBe(1e9 + 1)
  })
})

function cacheText(change: Record<string, unknown>): string {
  const entry = {
    ...here,
    measuredAt: '2026-11-30T11:00:00.000Z',
    flopsPerSecond: 5e9,
    callSeconds: 0,
    ...change,
  }
  return JSON.stringify({ format: 'rookery-benchmark/1', entries: [entry] })
}
