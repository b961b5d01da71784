import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesShare,
  codec,
  dtypeOf,
  pack,
  packWithFeedback,
  unpack,
  type Codec,
} from '../../../shared/codec/codec.ts'
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import { createRng, nextNormal } from '../../../shared/random.ts'
import { byteLengthOf, floatsOf, floatTensor, type HostTensor } from '../../../shared/tensor.ts'

const packed = codec.exclude(['fp32']).options

describe('a codec', () => {
  it('writes fp32 as the tensor itself', () => {
    const tensor = floatTensor(Float32Array.of(1, NaN), [2])
    expect(pack(tensor, 'fp32')).toBe(tensor)
    expect(unpack(tensor)).toBe(tensor)
  })

  it('makes so many bytes of so many elements', () => {
    const bytes = (name: Codec, elements: number) =>
      pack(floatTensor(new Float32Array(elements)), name).data.byteLength
    expect(codec.options.map((name) => [0, 1, 256, 257].map((elements) => bytes(name, elements)))).toEqual([
      [0, 4, 1024, 1028],
      [0, 2, 512, 514],
      [0, 2, 512, 514],
      [0, 5, 260, 265],
    ])
    expect(codec.options.map(bytesShare)).toEqual([1, 0.5, 0.5, 260 / 1024])
  })

  it.each(packed)('%s keeps the shape, and reads a view into a larger memory', (name) => {
    const values = Float32Array.from({ length: 600 }, (_, at) => at - 300)
    const sent = pack(floatTensor(values, [2, 300]), name)
    const memory = new Uint8Array(sent.data.length + 24)
    memory.set(sent.data, 8)
    const view = { ...sent, data: memory.subarray(8, 8 + sent.data.length) }
    expect(unpack(view)).toEqual(unpack(sent))
    expect(unpack(view).shape).toEqual([2, 300])
    const worst = floatsOf(unpack(view)).reduce(
      (most, value, at) => Math.max(most, Math.abs(value - values[at]!)),
      0,
    )
    expect(worst).toBeLessThan(1.182)
  })

  it.each(packed)('%s refuses bytes that are not those of the shape', (name) => {
    const { data } = pack(floatTensor(new Float32Array(300)), name)
    const wrong = (shape: number[]): HostTensor => ({ dtype: dtypeOf(name), shape, data })
    expect(() => unpack(wrong([301]))).toThrow(InvalidInputError)
    expect(() => unpack(wrong([]))).toThrow(InvalidInputError)
    expect(() => unpack({ ...wrong([300]), data: new Float32Array(data.length) })).toThrow(InvalidInputError)
  })

  it('packs floats alone', () => {
    expect(() => pack({ dtype: 'int32', shape: [1], data: Int32Array.of(1) }, 'fp16')).toThrow(InvariantError)
  })

  it('is off by less than a hundredth of the values’ spread', () => {
    const rng = createRng(7)
    const values = Float32Array.from({ length: 65536 }, () => nextNormal(rng))
    const rms = (name: Codec) => {
      const back = floatsOf(unpack(pack(floatTensor(values), name)))
      return Math.sqrt(back.reduce((sum, value, at) => sum + (value - values[at]!) ** 2, 0) / values.length)
    }
    expect(rms('int8')).toBeLessThan(0.008)
    expect(rms('bf16')).toBeLessThan(0.0017)
    expect(rms('fp16')).toBeLessThan(0.00021)
  })
})

describe('error feedback', () => {
  /** Σ of what was written over some rounds, Σ of what was meant, and the last residual. */
  function rounds(name: Codec, vectors: readonly Float32Array[]) {
    const length = vectors[0]!.length
    const residual = new Float32Array(length)
    const [sent, meant] = [new Float64Array(length), new Float64Array(length)]
    for (const vector of vectors) {
      floatsOf(unpack(packWithFeedback(vector, name, residual))).forEach((value, at) => (sent[at]! += value))
      vector.forEach((value, at) => (meant[at]! += value))
    }
    return { sent, meant, residual }
  }

  it.each(['fp16', 'bf16'] as const)('owes exactly what %s lost, in numbers that add up exactly', (name) => {
    const grid = fc.array(fc.integer({ min: -(2 ** 14), max: 2 ** 14 }), { minLength: 5, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(grid, { minLength: 1, maxLength: 20 }), (vectors) => {
        const { sent, meant, residual } = rounds(name, vectors.map((each) => Float32Array.from(each, (value) => value / 256))) // prettier-ignore
        expect(Float64Array.from(meant, (sum, at) => sum - residual[at]!)).toEqual(sent)
      }),
    )
  })

  it('owes what int8 lost, but for rounding, and never more than half a scale', () => {
    const rng = createRng(3)
    const vectors = Array.from({ length: 50 }, () =>
      Float32Array.from({ length: 400 }, () => nextNormal(rng)),
    )
    const { sent, meant, residual } = rounds('int8', vectors)
    sent.forEach((sum, at) => {
      expect(Math.abs(meant[at]! - residual[at]! - sum)).toBeLessThan(2e-5)
    })
    expect(residual.reduce((most, value) => Math.max(most, Math.abs(value)), 0)).toBeLessThan(0.03)
  })

  it('of fp32 owes nothing, and of what cannot be written nothing either', () => {
    const residual = new Float32Array(2)
    packWithFeedback(Float32Array.of(1 / 3, NaN), 'fp32', residual)
    packWithFeedback(Float32Array.of(1e9, NaN), 'fp16', residual)
    expect(residual).toEqual(new Float32Array(2))
    expect(() => packWithFeedback(new Float32Array(3), 'int8', residual)).toThrow(InvariantError)
  })
})

describe('the bytes of a tensor', () => {
  it('follow from its kind and elements', () => {
    expect([byteLengthOf('int32', 3), byteLengthOf('uint8', 3), byteLengthOf('int8-blocks', 513)]).toEqual([12, 3, 525]) // prettier-ignore
  })
})
