import { describe, expect, it } from 'vitest'
import { limits, limitsChange } from '../../shared/limits.ts'

describe('a change of limits', () => {
  it('names only what it changes, for every limit', () => {
    const changes = {
      memoryBytes: 1e9,
      computeShare: 0.5,
      uploadBytesPerSecond: 1e6,
      downloadBytesPerSecond: 1e6,
      trainOnBattery: true,
      idleMinutes: 10,
      hours: Array.from({ length: 7 }, () => [[0, 60]]),
      pausePrograms: ['blender'],
      networkIsMetered: true,
    }
    expect(Object.keys(changes).sort()).toEqual(Object.keys(limits.shape).sort())
    for (const change of Object.entries(changes).map(([name, value]) => ({ [name]: value })))
      expect(limitsChange.parse(change)).toEqual(change)
    expect(limitsChange.parse({})).toEqual({})
  })

  it.each([{ unknown: 1 }, { computeShare: 0 }, { computeShare: null }, { idleMinutes: 0.5 }, null, []])(
    'is refused when it is %j',
    (change) => {
      expect(limitsChange.safeParse(change).success).toBe(false)
    },
  )
})
