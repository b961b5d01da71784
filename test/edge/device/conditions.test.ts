import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runsOnBattery } from '../../../main/edge/device/battery.ts'
import { runningPrograms } from '../../../main/edge/device/programs.ts'
import { createUsageMeter } from '../../../main/edge/device/usage.ts'

describe('the battery', () => {
  const reading = (hasBattery: boolean, acConnected: boolean, isCharging = false) =>
    runsOnBattery(() => Promise.resolve({ hasBattery, acConnected, isCharging }))

  it('is what this PC runs on only where there is one and no plug', async () => {
    expect(await reading(true, false)).toBe(true)
    expect(await reading(true, true)).toBe(false)
    expect(await reading(true, false, true)).toBe(false)
    expect(await reading(false, false)).toBeUndefined()
  })
})

describe('programs that run', () => {
  it('are told by short name and by path, whatever ends meanwhile', async () => {
    const procFolder = await mkdtemp(join(tmpdir(), 'rookery-proc-'))
    try {
      const live = async (id: string, comm: string, line: string) => {
        await mkdir(join(procFolder, id))
        await writeFile(join(procFolder, id, 'comm'), `${comm}\n`)
        await writeFile(join(procFolder, id, 'cmdline'), line)
      }
      await live('1', 'systemd', '')
      await live('42', 'a-program-with-', '/opt/a-program-with-a-long-name\0--fast\0')
      await mkdir(join(procFolder, '43'))
      await mkdir(join(procFolder, 'sys'))
      expect([...(await runningPrograms({ platform: 'linux', procFolder }))].sort()).toEqual([
        '/opt/a-program-with-a-long-name',
        'a-program-with-',
        'systemd',
      ])
    } finally {
      await rm(procFolder, { recursive: true })
    }
  })

  it('have this very process among them', async () => {
    const names = (await runningPrograms()).map((name) => basename(name))
    expect(names).toContain(basename(process.execPath))
  })
})

describe('the usage meter', () => {
  it('tells the share of all cores since the sample before', () => {
    const now = { atMs: 0, cpuMicros: 500 }
    const sample = createUsageMeter({
      cpuMicros: () => now.cpuMicros,
      residentBytes: () => 1000,
      nowMs: () => now.atMs,
      cores: 4,
    })
    Object.assign(now, { atMs: 1000, cpuMicros: 2_000_500 })
    expect(sample()).toEqual({ cpuShare: 0.5, memoryBytes: 1000 })
    Object.assign(now, { atMs: 2000 })
    expect(sample().cpuShare).toBe(0)
    expect(sample().cpuShare).toBe(0)
  })
})
