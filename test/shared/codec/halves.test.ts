import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { floatOf, halfBits, values16 } from './reference.ts'
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from '../../../shared/codec/halves.ts'

/** The 16 bits that a codec makes of one value. */
const bitsOf = (encode: (values: Float32Array) => Uint8Array, value: number): number => {
  const bytes = encode(Float32Array.of(value))
  return new DataView(bytes.buffer, bytes.byteOffset).getUint16(0, true)
}
const float16 = (value: number) => bitsOf(encodeFloat16, value)
const bfloat16 = (value: number) => bitsOf(encodeBfloat16, value)

function decoded(decode: (bytes: Uint8Array, values: Float32Array) => void, halves: Uint16Array) {
  const values = new Float32Array(halves.length)
  decode(new Uint8Array(halves.buffer), values)
  return values
}

describe('half precision', () => {
  it.each([
    ['one', 1, 0x3c00],
    ['minus two', -2, 0xc000],
    ['a negative zero', -0, 0x8000],
    ['the largest', 65504, 0x7bff],
    ['what rounds down to the largest', 65519.996, 0x7bff],
    ['a tie above the largest, which is odd', 65520, 0x7c00],
    ['an infinity', Infinity, 0x7c00],
    ['minus infinity', -Infinity, 0xfc00],
    ['a tie, down to even', 1 + 2 ** -11, 0x3c00],
    ['a tie, up to even', 1 + 3 * 2 ** -11, 0x3c02],
    ['what is just above a tie', 1 + 2 ** -11 + 2 ** -23, 0x3c01],
    ['the least normal', 2 ** -14, 0x0400],
    ['the largest subnormal', 1023 * 2 ** -24, 0x03ff],
    ['a tie that carries into the normals', 1023.5 * 2 ** -24, 0x0400],
    ['the least subnormal', 2 ** -24, 0x0001],
    ['a tie between zero and the least subnormal', 2 ** -25, 0x0000],
    ['what is just above that tie', 2 ** -25 + 2 ** -48, 0x0001],
    ['a tie between the first two subnormals', 1.5 * 2 ** -24, 0x0002],
    ['the least float32', 2 ** -149, 0x0000],
  ])('writes %s', (_, value, bits) => {
    expect(float16(value).toString(16)).toBe(bits.toString(16))
  })

  it('writes a NaN as one', () => {
    expect(float16(NaN) & 0x7c00).toBe(0x7c00)
    expect(float16(NaN) & 0x03ff).toBeGreaterThan(0)
  })

  it('reads each of the 65536 halves as it is defined', () => {
    expect(decoded(decodeFloat16, values16())).toEqual(Float32Array.from(values16(), floatOf))
  })

  it('writes any value as exact arithmetic rounds it', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        expect(float16(value)).toBe(halfBits(value))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('bfloat16', () => {
  it.each([
    ['one', 1, 0x3f80],
    ['a negative zero', -0, 0x8000],
    ['an infinity', Infinity, 0x7f80],
    ['minus infinity', -Infinity, 0xff80],
    ['a tie, down to even', 1 + 2 ** -8, 0x3f80],
    ['a tie, up to even', 1 + 3 * 2 ** -8, 0x3f82],
    ['what is just above a tie', 1 + 2 ** -8 + 2 ** -23, 0x3f81],
    ['a carry into the exponent', 2 - 2 ** -9, 0x4000],
    ['the largest float32, which is nearer to infinity', 3.4028234663852886e38, 0x7f80],
    ['a subnormal', 2 ** -133, 0x0001],
    ['a tie between zero and the least subnormal', 2 ** -134, 0x0000],
  ])('writes %s', (_, value, bits) => {
    expect(bfloat16(value).toString(16)).toBe(bits.toString(16))
  })

  it.each([0x7fc0_0000, 0x7f80_0001, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff])(
    'writes the NaN %i as a quiet one of its sign',
    (bits) => {
      const bytes = encodeBfloat16(new Float32Array(Uint32Array.of(bits).buffer))
      const half = new Uint16Array(bytes.buffer)[0]!
      expect([half >>> 15, half & 0x7fc0]).toEqual([bits >>> 31, 0x7fc0])
    },
  )

  it('reads each of the 65536 halves as the upper half of a float32, and writes it back', () => {
    const halves = values16()
    const bits = new Uint32Array(decoded(decodeBfloat16, halves).buffer)
    expect(bits).toEqual(Uint32Array.from(halves, (half) => half * 65536))
    const isNaN16 = (half: number) => (half & 0x7fff) > 0x7f80
    const back = new Uint16Array(encodeBfloat16(new Float32Array(bits.buffer)).buffer)
    expect(back.filter((_, at) => !isNaN16(halves[at]!))).toEqual(halves.filter((half) => !isNaN16(half)))
  })

  it('is off by at most 2^-8 of the value, in the range of normal numbers', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, min: Math.fround(1e-37), max: Math.fround(1e38) }), (value) => {
        const bytes = encodeBfloat16(Float32Array.of(value))
        const back = decoded(decodeBfloat16, new Uint16Array(bytes.buffer))[0]!
        expect(Math.abs(back - value)).toBeLessThanOrEqual(2 ** -8 * value)
      }),
      { numRuns: 2000 },
    )
  })
})
