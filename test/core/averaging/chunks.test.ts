import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutIntoChunks } from '../../../main/core/averaging/chunks.ts'

describe('the chunks of a vector', () => {
  it('tile the whole vector without gap or overlap and differ by one element at most', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.integer({ min: 1, max: 12 }), (length, members) => {
        const chunks = cutIntoChunks(length, members)
        const lengths = chunks.map((chunk) => chunk.length)
        let end = 0
        for (const { offset, length: size } of chunks) {
          expect(offset).toBe(end)
          end += size
        }
        expect([chunks.length, end]).toEqual([members, length])
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('are empty where there are fewer elements than members', () => {
    expect(cutIntoChunks(2, 4)).toEqual([
      { offset: 0, length: 1 },
      { offset: 1, length: 1 },
      { offset: 2, length: 0 },
      { offset: 2, length: 0 },
    ])
  })
})
