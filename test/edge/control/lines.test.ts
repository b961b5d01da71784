import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadMessageError } from '../../../shared/errors.ts'
import { createLineCutter } from '../../../main/edge/control/lines.ts'

describe('a line cutter', () => {
  it('gives the same lines however the bytes arrive', () => {
    const text = fc.string({ unit: 'binary' }).map((line) => line.replaceAll('\n', ' '))
    fc.assert(
      fc.property(fc.array(text), fc.array(fc.integer({ min: 1, max: 9 })), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
        const cutter = createLineCutter(1000)
        const got: string[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % Math.max(1, sizes.length)] ?? 1
          got.push(...cutter.push(bytes.subarray(at, at + size)))
          at += size
        }
        expect(got).toEqual(lines)
      }),
    )
  })

  it('takes a line of exactly its bound, and refuses one byte more before its end arrives', () => {
    const cutter = createLineCutter(4)
    expect(cutter.push(Buffer.from('abcd\n'))).toEqual(['abcd'])
    cutter.push(Buffer.from('abc'))
    expect(() => cutter.push(Buffer.from('de'))).toThrow(BadMessageError)
  })
})
