import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKeptFile, type KeptFile } from '../../main/agent/kept-file.ts'
import { contributionFile, createContributionCounter } from '../../main/agent/limits/contribution-counter.ts'
import { createUse } from '../../main/agent/limits/use.ts'
import { changedLimits, saveLimits } from '../../main/agent/limits/change-limits.ts'
import type { ContributionRecord } from '../../main/core/job/contribution.ts'
import { limits } from '../../shared/limits.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-counters-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('a kept file', () => {
  it('gives back what was written last, and nothing for what cannot be used', async () => {
    const path = join(folder, 'count.json')
    const file = createKeptFile(path, contributionFile)
    expect(await file.read()).toBeUndefined()
    const count = { samples: 1, trainedSeconds: 2, sentBytes: 3, receivedBytes: 4 }
    const record = { day: '2026-11-29', today: count, total: count }
    await Promise.all([file.write({ ...record, day: '2026-11-28' }), file.write(record)])
    expect(await file.read()).toEqual(record)
    for (const text of ['{"day":', '{"day":"2026-11-29","today":{},"total":{}}', 'x'.repeat(100_000)]) {
      await writeFile(path, text)
      expect(await file.read()).toBeUndefined()
    }
  })
})

/** A counter, the machine around it, and what was saved. */
async function createCounter() {
  const now = { ms: 0, day: '2026-11-29', sentBytes: 100, receivedBytes: 100 }
  const saves: ContributionRecord[] = []
  const file: KeptFile<ContributionRecord> = {
    read: () => Promise.resolve(saves.at(-1)),
    write: (record) => {
      saves.push(record)
      return Promise.resolve()
    },
  }
  const counter = await createContributionCounter({
    file,
    nowMs: () => now.ms,
    day: () => now.day,
    traffic: () => now,
  })
  const look = (state: 'training' | 'paused', samples: number) => {
    counter.look({ state, pausesByUs: false, samples })
  }
  return { now, saves, counter, look }
}

describe('the count of what was given', () => {
  it('grows with samples, bytes, and the time in which this PC trained', async () => {
    const { now, counter, look } = await createCounter()
    counter.begin()
    Object.assign(now, { ms: 1000, sentBytes: 150 })
    look('training', 64)
    Object.assign(now, { ms: 2000, receivedBytes: 400 })
    look('paused', 64)
    expect(counter.shown().today).toEqual({
      samples: 64,
      trainedSeconds: 1,
      sentBytes: 50,
      receivedBytes: 300,
    })
    expect(counter.shown().total).toEqual(counter.shown().today)
  })

  it('counts a new stage and a new job from nothing, and no time in which this PC slept', async () => {
    const { now, counter, look } = await createCounter()
    counter.begin()
    now.ms = 1000
    look('training', 100)
    look('training', 30)
    expect(counter.shown().total.samples).toBe(130)
    counter.begin()
    now.ms = 3_600_000
    look('training', 30)
    expect(counter.shown().total).toMatchObject({ samples: 160, trainedSeconds: 6 })
  })

  it('is saved once a minute while it grows, and at the end', async () => {
    const { now, saves, counter, look } = await createCounter()
    counter.begin()
    for (let second = 1; second <= 125; second++) {
      now.ms = second * 1000
      look('training', second)
    }
    expect(saves.map(({ total }) => total.samples)).toEqual([60, 120])
    await counter.save()
    await counter.save()
    expect(saves.map(({ total }) => total.samples)).toEqual([60, 120, 125])
  })

  it('shows nothing for today after midnight', async () => {
    const { now, counter, look } = await createCounter()
    look('training', 10)
    now.day = '2026-11-30'
    expect(counter.shown()).toMatchObject({ today: { samples: 0 }, total: { samples: 10 } })
  })
})

describe('what is used', () => {
  it('is sampled once a second, however often someone looks, and not at all when nobody does', () => {
    const now = { ms: 0, sentBytes: 0, receivedBytes: 0 }
    const later: (() => void)[] = []
    let [samples, rings] = [0, 0]
    const use = createUse({
      nowMs: () => now.ms,
      usage: () => ({ cpuShare: 0.25, memoryBytes: 1000 + samples++ }),
      traffic: () => now,
      later: (deed) => later.push(deed),
      ring: () => rings++,
    })
    samples = 0
    for (let look = 0; look < 5; look++) use()
    expect([samples, later.length]).toEqual([0, 1])
    Object.assign(now, { ms: 2000, sentBytes: 500, receivedBytes: 1000 })
    later[0]!()
    expect(rings).toBe(1)
    expect(use()).toEqual({
      cpuShare: 0.25,
      memoryBytes: 1000,
      uploadBytesPerSecond: 250,
      downloadBytesPerSecond: 500,
    })
    expect([samples, later.length]).toEqual([1, 2])
    later[1]!()
    expect([samples, later.length, rings]).toEqual([1, 2, 2])
  })
})

describe('a change of the limits', () => {
  const before = limits.parse({ idleMinutes: 5, hours: Array.from({ length: 7 }, () => [[60, 120]]) })

  it('leaves what it does not name, and takes whole days for all hours', () => {
    expect(changedLimits(before, { computeShare: 0.5 })).toEqual({ ...before, computeShare: 0.5 })
    const always = Array.from({ length: 7 }, (): [number, number][] => [[0, 1440]])
    expect(changedLimits(before, { hours: always })).not.toHaveProperty('hours')
  })

  it('is refused where no job could live with it', () => {
    expect(() => changedLimits(before, { uploadBytesPerSecond: 8191 })).toThrow(
      /uploadBytesPerSecond: below 8192/,
    )
    expect(changedLimits(before, { uploadBytesPerSecond: 8192 }).uploadBytesPerSecond).toBe(8192)
    expect(() => changedLimits(before, { computeShare: 0 })).toThrow(/limits: computeShare/)
  })

  it('leaves the other settings of the file alone', async () => {
    const path = join(folder, 'settings.json')
    await writeFile(path, JSON.stringify({ version: 2, displayName: 'attic', engine: { backend: 'cpu' } }))
    await saveLimits(folder, { idleMinutes: 3 })
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      displayName: 'attic',
      engine: { backend: 'cpu' },
      limits: { idleMinutes: 3 },
    })
  })
})
