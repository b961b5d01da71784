import { describe, expect, it } from 'vitest'
import { computingThreads, sparingOne } from '../../main/agent/computing-threads.ts'

describe('how many threads compute', () => {
  it.each([
    ['a single core', 1, 1, 1],
    ['two cores', 2, 2, 1],
    ['four cores of two virtual ones each', 4, 8, 4],
    ['eight cores without', 8, 8, 7],
    ['a large server', 64, 128, 16],
    ['a container that may use three of many', 32, 3, 2],
  ])('%s', (_name, physical, virtual, expected) => {
    expect(sparingOne(physical, virtual)).toBe(expected)
  })

  it('as the settings say, where they do', async () => {
    expect(await computingThreads(5)).toBe(5)
    expect(await computingThreads(0)).toBeGreaterThanOrEqual(1)
  })
})
