import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutIntoChunks } from '../../../main/core/averaging/chunks.ts'
import { elementsSent, ringSteps } from '../../../main/core/averaging/ring-steps.ts'

const sentByEach = (length: number, members: number) =>
  Array.from({ length: members }, (_, position) =>
    elementsSent(ringSteps(position, members), cutIntoChunks(length, members)),
  )

describe('the steps of a ring', () => {
  it('make every member send at a step what the next one expects', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), (members) => {
        for (let position = 0; position < members; position++) {
          const sends = ringSteps(position, members).map(({ sends: chunk }) => chunk)
          const expected = ringSteps((position + 1) % members, members).map(({ receives }) => receives)
          expect(sends).toEqual(expected)
        }
      }),
    )
  })

  it('send exactly 2(C−1)/C of the vector when C divides it, and as much over all members when not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.nat({ max: 30 }),
        fc.nat({ max: 8 }),
        (members, part, rest) => {
          expect(sentByEach(part * members, members)).toEqual(
            new Array(members).fill(2 * (members - 1) * part),
          )
          const sum = sentByEach(part * members + rest, members).reduce((a, b) => a + b)
          expect(sum).toBe(2 * (members - 1) * (part * members + rest))
        },
      ),
    )
  })

  it('are none for a ring of one, and known for three members and 28 elements', () => {
    expect(ringSteps(0, 1)).toEqual([])
    expect(sentByEach(28, 3)).toEqual([38, 37, 37])
  })
})
