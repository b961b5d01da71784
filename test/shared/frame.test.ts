/** Frames survive any cut of the byte stream, and no wrong byte gets further than a BadMessageError. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadMessageError, InvariantError } from '../../shared/errors.ts'
import {
  createFrameReader,
  encodeFrame,
  encodeKeepAlive,
  maxBodyBytes,
  maxHeaderBytes,
  maxRank,
  maxTensors,
  prefixBytes,
  tensorBytesOf,
  type FrameLimits,
} from '../../shared/messages/frame.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import { byteLengthOf, elementCount, type HostTensor } from '../../shared/tensor.ts'

const job = 'ab'.repeat(32)

const bytesOf = (pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces))

const arrayTypes = {
  ...{ float32: Float32Array, int32: Int32Array, uint8: Uint8Array },
  ...{ float16: Uint8Array, bfloat16: Uint8Array, 'int8-blocks': Uint8Array },
}
const tensor = fc
  .tuple(
    fc.constantFrom(...(Object.keys(arrayTypes) as (keyof typeof arrayTypes)[])),
    fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }),
    fc.nat(),
  )
  .map(([dtype, shape, seed]): HostTensor => {
    const arrayType = arrayTypes[dtype]
    const length = byteLengthOf(dtype, elementCount(shape)) / arrayType.BYTES_PER_ELEMENT
    const elements = Array.from({ length }, (_, at) => (seed + at * 7) % 251)
    return { dtype, shape, data: new arrayType(elements) }
  })

const header = fc.oneof(
  fc.record({
    type: fc.constant('activation' as const),
    microBatch: fc.nat(),
    purpose: fc.constant('train' as const),
  }),
  fc.record({ type: fc.constant('gradient' as const), microBatch: fc.nat() }),
  fc.record({
    type: fc.constant('leaving' as const),
    reason: fc.string({ unit: 'grapheme', maxLength: 40 }),
  }),
)
const message = fc
  .tuple(header, fc.array(tensor, { maxLength: maxTensors }), fc.nat({ max: 1_000_000 }))
  .map(([kind, tensors, plan]): WireMessage => ({ header: { ...kind, job, plan }, tensors }))

/** Read a stream in pieces; the messages before an error are kept. */
function readAll(stream: Uint8Array, cuts: readonly number[], limits?: FrameLimits) {
  const messages: WireMessage[] = []
  let keepAlives = 0
  const reader = createFrameReader({
    onMessage: (read) => messages.push(read),
    onKeepAlive: () => keepAlives++,
    ...(limits === undefined ? {} : { limits }),
  })
  let error: unknown
  try {
    const borders = [0, ...[...cuts].sort((a, b) => a - b), stream.length]
    for (const [at, border] of borders.entries()) reader.push(stream.subarray(borders[at - 1] ?? 0, border))
    reader.finish()
  } catch (thrown) {
    error = thrown
  }
  return { messages, keepAlives, error }
}

/** A frame with any header text, as a faulty or hostile peer could make it. */
function forge(headerText: string, claimedBytes?: number): Uint8Array {
  const json = new TextEncoder().encode(headerText.padEnd(Math.ceil(headerText.length / 8) * 8))
  const frame = new Uint8Array(prefixBytes + json.length)
  frame.set(new TextEncoder().encode('RKF2'))
  new DataView(frame.buffer).setUint32(4, claimedBytes ?? json.length, true)
  frame.set(json, prefixBytes)
  return frame
}
const probeHeader = { type: 'probe', job, plan: 1, id: 1 }
const forgeTensors = (tensors: unknown): Uint8Array => forge(JSON.stringify({ ...probeHeader, tensors }))

describe('a frame', () => {
  it('comes back as the same message, however the byte stream is cut', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(4000)), (sent, cuts) => {
        const stream = bytesOf(sent.flatMap((one) => [...encodeFrame(one), encodeKeepAlive()]))
        const within = cuts.map((cut) => cut % (stream.length + 1))
        expect(readAll(stream, within)).toEqual({ messages: sent, keepAlives: sent.length, error: undefined })
      }),
    )
  })

  it('comes back when it is delivered byte by byte', () => {
    const sent: WireMessage = {
      header: { type: 'probe', job, plan: 3, id: 9 },
      tensors: [{ dtype: 'uint8', shape: [3], data: Uint8Array.of(1, 2, 3) }],
    }
    const stream = bytesOf(encodeFrame(sent))
    expect(readAll(stream, [...stream.keys()]).messages).toEqual([sent])
  })

  it('sends tensors as views and receives them as aligned views of one allocation', () => {
    const weights = Float32Array.of(1, -2, 3)
    const sent: WireMessage = {
      header: { type: 'probe', job, plan: 0, id: 0 },
      tensors: [
        { dtype: 'uint8', shape: [5], data: Uint8Array.of(1, 2, 3, 4, 5) },
        { dtype: 'float32', shape: [3], data: weights },
      ],
    }
    const pieces = encodeFrame(sent)
    expect(pieces.some((piece) => piece.buffer === weights.buffer && piece.byteLength === 12)).toBe(true)
    const [bytes, floats] = readAll(bytesOf(pieces), []).messages[0]!.tensors
    expect(floats!.data.buffer).toBe(bytes!.data.buffer)
    expect(floats!.data.byteOffset).toBe(8)
    expect(tensorBytesOf(sent)).toBe(17)
  })

  it('that is cut short is a bad message after the whole ones before it', () => {
    fc.assert(
      fc.property(message, message, fc.nat(), (whole, cut, at) => {
        const first = bytesOf(encodeFrame(whole))
        const second = bytesOf(encodeFrame(cut))
        const end = first.length + 1 + (at % (second.length - 1))
        const { messages, error } = readAll(bytesOf([first, second]).subarray(0, end), [])
        expect(messages).toEqual([whole])
        expect(error).toBeInstanceOf(BadMessageError)
      }),
    )
  })

  it('with any byte changed is read, waits for more, or is a bad message; nothing else is thrown', () => {
    fc.assert(
      fc.property(message, fc.nat(), fc.integer({ min: 1, max: 255 }), (sent, at, change) => {
        const stream = bytesOf(encodeFrame(sent))
        stream[at % stream.length]! ^= change
        const { error } = readAll(stream, [])
        expect(error === undefined || error instanceof BadMessageError).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('of random bytes is a bad message', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (noise) => {
        expect(readAll(noise, []).error).toBeInstanceOf(BadMessageError)
      }),
    )
  })

  it.each([
    ['a header above the bound', forge('{}', maxHeaderBytes + 8)],
    ['a header of 4 GiB', forge('{}', 0xffff_fff8)],
    ['a header that is not padded', forge('{}', 3)],
    ['a header that is not JSON', forge('{"type":')],
    ['a header that is a list', forge('[]')],
    ['a header nested without end', forge('['.repeat(100_000))],
    ['no list of tensors', forge(JSON.stringify(probeHeader))],
    ['an unknown message', forge(JSON.stringify({ ...probeHeader, type: 'obey', tensors: [] }))],
    ['an unknown field', forge(JSON.stringify({ ...probeHeader, extra: 1, tensors: [] }))],
    ['an unknown kind of number', forgeTensors([{ dtype: 'float64', shape: [1] }])],
    ['too many tensors', forgeTensors(Array.from({ length: 9 }, () => ({ dtype: 'uint8', shape: [0] })))],
    [
      'too many dimensions',
      forgeTensors([{ dtype: 'uint8', shape: Array.from({ length: maxRank + 1 }, () => 1) }]),
    ],
    ['a negative extent', forgeTensors([{ dtype: 'uint8', shape: [-1] }])],
    ['a fractional extent', forgeTensors([{ dtype: 'uint8', shape: [1.5] }])],
    [
      'a tensor one element above the bound',
      forgeTensors([{ dtype: 'float32', shape: [maxBodyBytes / 4 + 1] }]),
    ],
    [
      'int8 blocks whose scales are above the bound',
      forgeTensors([{ dtype: 'int8-blocks', shape: [maxBodyBytes] }]),
    ],
    [
      'a product that overflows',
      forgeTensors([{ dtype: 'uint8', shape: Array.from({ length: 8 }, () => 2 ** 29) }]),
    ],
    [
      'a product that overflows into nothing',
      forgeTensors([{ dtype: 'uint8', shape: [2 ** 29, 2 ** 29, 0] }]),
    ],
    [
      'tensors above the bound together',
      forgeTensors([1, 2].map(() => ({ dtype: 'uint8', shape: [2 ** 28 + 1] }))),
    ],
  ])('with %s is refused from its header alone', (_, frame) => {
    const before = process.memoryUsage().arrayBuffers
    expect(readAll(frame, []).error).toBeInstanceOf(BadMessageError)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20)
  })

  it('is held to the tighter limits of a stranger', () => {
    const small: FrameLimits = { headerBytes: 256, bodyBytes: 0 }
    const leaving: WireMessage = { header: { type: 'leaving', job, plan: 0, reason: '' }, tensors: [] }
    expect(readAll(bytesOf(encodeFrame(leaving)), [], small).messages).toEqual([leaving])
    const chatty: WireMessage = {
      header: { type: 'leaving', job, plan: 0, reason: 'x'.repeat(300) },
      tensors: [],
    }
    expect(readAll(bytesOf(encodeFrame(chatty)), [], small).error).toBeInstanceOf(BadMessageError)
    expect(readAll(forgeTensors([{ dtype: 'uint8', shape: [1] }]), [], small).error).toBeInstanceOf(
      BadMessageError,
    )
  })

  it('is not made of what a receiver would refuse', () => {
    const send = (one: WireMessage) => () => encodeFrame(one)
    const probe = { type: 'probe', job, plan: 0, id: 0 } as const
    expect(send({ header: { ...probe, id: Number.NaN }, tensors: [] })).toThrow(InvariantError)
    expect(
      send({ header: probe, tensors: [{ dtype: 'float32', shape: [2], data: new Float32Array(3) }] }),
    ).toThrow('tensor data is not float32 [2]')
    expect(
      send({ header: probe, tensors: [{ dtype: 'int32', shape: [3], data: new Float32Array(3) }] }),
    ).toThrow(InvariantError)
  })

  it('after a wrong one is never read again', () => {
    const reader = createFrameReader({ onMessage: () => undefined })
    expect(() => {
      reader.push(new Uint8Array(8))
    }).toThrow(BadMessageError)
    expect(() => {
      reader.push(encodeKeepAlive())
    }).toThrow(BadMessageError)
  })
})
