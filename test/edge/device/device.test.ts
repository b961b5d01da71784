/** Describing the PC and sizing what it lends, on made-up PCs and on this one. */
import { describe, expect, it } from 'vitest'
import { DeviceMemoryError } from '../../../shared/errors.ts'
import { gibibyte, mebibyte } from '../../../shared/units.ts'
import { type SystemInformation, describeDevice, memoryBudget } from '../../../main/edge/device/device.ts'

function pc(facts: { total?: number; available?: number; limit?: number; brand?: string } = {}) {
  const asked: string[] = []
  const systeminformation: SystemInformation = {
    cpu: () => {
      asked.push('cpu')
      const brand = facts.brand ?? 'Ryzen 7 7700'
      return Promise.resolve({ manufacturer: brand === '' ? '' : 'AMD', brand, cores: 16, physicalCores: 8 })
    },
    mem: () => {
      asked.push('mem')
      return Promise.resolve({
        total: facts.total ?? 32 * gibibyte,
        available: facts.available ?? 10 * gibibyte,
      })
    },
    constrainedMemory: () => facts.limit ?? 0,
    platform: 'linux',
    architecture: 'x64',
  }
  return { systeminformation, asked }
}

describe('the description of a PC', () => {
  it('names processor, cores, memory and platform, asking each question once', async () => {
    const { systeminformation, asked } = pc()
    expect(await describeDevice(systeminformation)).toEqual({
      cpuModel: 'AMD Ryzen 7 7700',
      cores: 16,
      physicalCores: 8,
      totalMemoryBytes: 32 * gibibyte,
      availableMemoryBytes: 10 * gibibyte,
      platform: 'linux x64',
    })
    expect(asked).toEqual(['cpu', 'mem'])
  })

  it('has a name for a processor that does not tell its own', async () => {
    expect((await describeDevice(pc({ brand: '' }).systeminformation)).cpuModel).toBe('unknown x64')
  })

  it('counts no more memory than the container allows', async () => {
    const described = await describeDevice(pc({ limit: 2 * gibibyte }).systeminformation)
    expect(described.totalMemoryBytes).toBe(2 * gibibyte)
    expect(described.availableMemoryBytes).toBe(2 * gibibyte)
  })

  it('is true of the PC that runs this test', async () => {
    const described = await describeDevice()
    expect(described.cpuModel).not.toBe('')
    expect(described.cores).toBeGreaterThanOrEqual(1)
    expect(described.availableMemoryBytes).toBeGreaterThan(0)
    expect(described.availableMemoryBytes).toBeLessThanOrEqual(described.totalMemoryBytes)
    expect(described.platform).toBe(`${process.platform} ${process.arch}`)
  })
})

describe('the memory budget', () => {
  it.each([
    { name: 'half of what is available by default', setting: 0, facts: {}, budget: 5 * gibibyte },
    { name: 'the setting where there is one', setting: 3 * gibibyte, facts: {}, budget: 3 * gibibyte },
    {
      name: 'never more than is available',
      setting: 64 * gibibyte,
      facts: { available: 5 * gibibyte },
      budget: 5 * gibibyte,
    },
    {
      name: 'half of what a container has left',
      setting: 0,
      facts: { limit: gibibyte },
      budget: gibibyte / 2,
    },
    { name: 'whole bytes', setting: 0, facts: { available: gibibyte + 1 }, budget: gibibyte / 2 },
    {
      name: 'that of a PC whose limit is none (larger than its memory)',
      setting: 0,
      facts: { limit: 2 ** 64 },
      budget: 5 * gibibyte,
    },
  ])('is $name', async ({ setting, facts, budget }) => {
    const { systeminformation } = pc(facts)
    expect(await memoryBudget({ setting, systeminformation })).toBe(budget)
  })

  it('refuses in one sentence when nothing is left to lend', async () => {
    const { systeminformation } = pc({ available: 20 * mebibyte })
    const refusal = memoryBudget({ setting: 0, systeminformation })
    await expect(refusal).rejects.toBeInstanceOf(DeviceMemoryError)
    await expect(refusal).rejects.toThrow(/only 10 MiB .* close other programs/)
  })
})
