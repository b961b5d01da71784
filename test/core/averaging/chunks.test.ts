import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutIntoChunks, cutIntoPieces, usualPieceElements } from '../../../main/core/averaging/chunks.ts'

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

describe('the pieces of a chunk', () => {
  it('tile it, and are at least eight where they are not of the smallest size', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5_000_000 }), fc.integer({ min: 2, max: 16 }), (length, members) => {
        const elements = usualPieceElements(length, members)
        const [longest = { offset: 0, length: 0 }] = cutIntoChunks(length, members)
        const pieces = cutIntoPieces(longest, elements)
        expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(longest.length)
        if (elements > 4096) expect(pieces.length).toBeGreaterThanOrEqual(8)
      }),
    )
  })

  it('are 16 KiB at the least and 256 KiB at the most', () => {
    expect([usualPieceElements(0, 2), usualPieceElements(655_360, 8), usualPieceElements(1e8, 2)]).toEqual([
      4096, 10_240, 65_536,
    ])
  })
})
