import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeInt8Blocks, encodeInt8Blocks } from '../../../shared/codec/int8-blocks.ts'
import { blockElements } from '../../../shared/tensor.ts'

function there(values: Float32Array): Float32Array {
  const back = new Float32Array(values.length)
  decodeInt8Blocks(encodeInt8Blocks(values), back)
  return back
}

/** Scales and codes as they are written. */
function written(values: Float32Array) {
  const bytes = encodeInt8Blocks(values)
  const blocks = Math.ceil(values.length / 256)
  return {
    scales: [...new Float32Array(bytes.buffer, 0, blocks)],
    codes: [...new Int8Array(bytes.buffer, 4 * blocks)],
  }
}

const numbers = (length: number) =>
  fc.float32Array({ minLength: length, maxLength: length, noNaN: true, noDefaultInfinity: true })

describe('int8 blocks', () => {
  it('are a scale a block, then a code an element', () => {
    const values = new Float32Array(258).fill(0)
    values.set([127, -127, 63.5, 0.5, 1.5, -0.5, -1.5, 2.4999], 0)
    values.set([-254, 2], 256)
    const { scales, codes } = written(values)
    expect(scales).toEqual([1, 2])
    // Ties go to even.
    expect(codes.slice(0, 8)).toEqual([127, -127, 64, 0, 2, 0, -2, 2])
    expect(codes.slice(256)).toEqual([-127, 1])
  })

  it('of zeros, or of what is too small to be scaled, are zeros', () => {
    expect(there(new Float32Array(300))).toEqual(new Float32Array(300))
    expect(there(new Float32Array(3).fill(2 ** -120))).toEqual(new Float32Array(3))
    expect(there(new Float32Array(0))).toEqual(new Float32Array(0))
  })

  it('hold the largest float32 and the least that is scaled', () => {
    const largest = Math.fround(3.4028234663852886e38)
    for (const value of [largest, Math.fround(1.001 * 127 * 2 ** -126)]) {
      const back = there(Float32Array.of(value, -value))
      expect(Math.abs(back[0]! - value) / value).toBeLessThan(1e-6)
      expect(back[1]).toBe(-back[0]!)
    }
  })

  it.each([NaN, Infinity, -Infinity])('with %d in it come back as NaN, that block and no other', (value) => {
    const values = new Float32Array(600).fill(1)
    values[300] = value
    const back = there(values)
    expect([...back.keys()].filter((at) => Number.isNaN(back[at]!))).toEqual(
      Array.from({ length: 256 }, (_, at) => 256 + at),
    )
    expect(back[0]).toBe(1)
  })

  it('are off by at most half a scale, and repeat what they wrote to the same codes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 700 }).chain(numbers), (values) => {
        const back = there(values)
        for (let from = 0; from < values.length; from += blockElements) {
          const block = values.subarray(from, from + blockElements)
          const largest = block.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
          const bound = Math.max((largest / 254) * (1 + 1e-6), 127 * 2 ** -126)
          block.forEach((value, at) => {
            expect(Math.abs(back[from + at]! - value)).toBeLessThanOrEqual(bound)
          })
        }
        expect(written(there(back)).codes).toEqual(written(back).codes)
      }),
    )
  })
})
