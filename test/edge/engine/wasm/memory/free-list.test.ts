/** Blocks of a region: never overlapping, joined again when given back. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFreeList } from '../../../../../main/edge/engine/wasm/memory/free-list.ts'

const deeds = fc.array(
  fc.oneof(fc.record({ take: fc.integer({ min: 0, max: 5000 }) }), fc.record({ give: fc.nat({ max: 50 }) })),
)

describe('a free list', () => {
  it('never lends a byte twice, and is whole again when all is given back', () => {
    fc.assert(
      fc.property(deeds, (all) => {
        const list = createFreeList(64)
        const lent: { offset: number; bytes: number }[] = []
        for (const deed of all) {
          if ('take' in deed) {
            const block = { offset: list.take(deed.take), bytes: deed.take }
            expect(block.offset % 64).toBe(0)
            for (const { offset, bytes } of lent) {
              const apart = offset + bytes <= block.offset || block.offset + block.bytes <= offset
              expect(apart).toBe(true)
            }
            lent.push(block)
          } else {
            const [block] = lent.splice(deed.give, 1)
            if (block) list.give(block.offset, block.bytes)
          }
        }
        const { top } = list
        for (const { offset, bytes } of lent) list.give(offset, bytes)
        expect(list.take(top - 64)).toBe(64)
        expect(list.top).toBe(Math.max(top, 128))
      }),
    )
  })

  it('takes no block twice', () => {
    const list = createFreeList()
    const [first] = [list.take(100), list.take(100)]
    list.give(first, 100)
    expect(() => {
      list.give(first, 100)
    }).toThrow('twice')
  })
})
