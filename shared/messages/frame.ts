/**
 * How a message looks as bytes: a fixed prefix, a JSON header, then raw tensor bodies. Everything a stranger
 * claims is checked before memory is taken for it.
 *
 *     'RKF2' | header bytes (u32) | header, JSON, blanks to a multiple of 8 | tensor, zeros to 8 | tensor ...
 *
 * A header of no bytes is a keep-alive: it says only that the sender lives. Numbers and elements are little-endian,
 * as every machine is that Node 24 runs on; tensors are therefore sent and received without a copy.
 */
import { z } from 'zod'
import { BadMessageError, InvariantError } from '../errors.ts'
import { describeIssue } from '../settings.ts'
import { byteLengthOf, elementCount, type HostTensor } from '../tensor.ts'
import { mebibyte, type Bytes } from '../units.ts'
import { wireHeader, type WireHeader, type WireMessage } from './wire.ts'

export const maxHeaderBytes: Bytes = 4 * mebibyte
export const maxBodyBytes: Bytes = 512 * mebibyte
export const maxTensors = 8
export const maxRank = 8
/** Magic and header length. */
export const prefixBytes: Bytes = 8

/** What one frame may hold. A stranger gets smaller ones. */
export interface FrameLimits {
  readonly headerBytes: Bytes
  readonly bodyBytes: Bytes
}
const fullLimits: FrameLimits = { headerBytes: maxHeaderBytes, bodyBytes: maxBodyBytes }

const alignment = 8
/** The bytes `RKF2`, read as a little-endian u32. */
const magic = 0x32464b52
const padded = (bytes: Bytes): Bytes => Math.ceil(bytes / alignment) * alignment

const extent = z.int().min(0).max(maxBodyBytes)
const tensorList = z
  .array(
    z.strictObject({
      dtype: z.enum(['float32', 'int32', 'uint8', 'float16', 'bfloat16', 'int8-blocks']),
      shape: z.array(extent).max(maxRank),
    }),
  )
  .max(maxTensors)
type TensorList = z.infer<typeof tensorList>

/**
 * The bytes of one tensor. Empty extents count as 1 while the product grows, so that no order of extents can
 * pass through a number too large to be exact.
 *
 * @returns undefined when the tensor is larger than `limit`
 */
function tensorBytes({ dtype, shape }: TensorList[number], limit: Bytes): Bytes | undefined {
  let elements = 1
  for (const size of shape) {
    elements *= Math.max(1, size)
    if (byteLengthOf(dtype, elements) > limit) return undefined
  }
  return shape.includes(0) ? 0 : byteLengthOf(dtype, elements)
}

/** The padded bytes of all bodies. @returns undefined above `limit` */
function bodyBytesOf(tensors: TensorList, limit: Bytes): Bytes | undefined {
  let total = 0
  for (const tensor of tensors) {
    const bytes = tensorBytes(tensor, limit)
    if (bytes === undefined) return undefined
    total += padded(bytes)
  }
  return total <= limit ? total : undefined
}

/** Packed elements stay bytes until whoever computes with them unpacks them. */
function arrayTypeOf(dtype: HostTensor['dtype']) {
  if (dtype === 'float32') return Float32Array
  return dtype === 'int32' ? Int32Array : Uint8Array
}

const asBytes = (data: HostTensor['data']): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength)

/** The bytes of the tensors alone, as the byte counters count them. */
export function tensorBytesOf(message: WireMessage): Bytes {
  return message.tensors.reduce((sum, tensor) => sum + tensor.data.byteLength, 0)
}

function prefixOf(headerBytes: Bytes): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(prefixBytes + headerBytes)
  const view = new DataView(frame.buffer)
  view.setUint32(0, magic, true)
  view.setUint32(4, headerBytes, true)
  return frame
}

function checkTensors(tensors: readonly HostTensor[]): void {
  const list = tensorList.safeParse(tensors.map(({ dtype, shape }) => ({ dtype, shape: [...shape] })))
  if (!list.success) throw new InvariantError(`tensors cannot be sent: ${describeIssue(list.error)}`)
  if (bodyBytesOf(list.data, maxBodyBytes) === undefined)
    throw new InvariantError(
      `tensors above ${maxBodyBytes} bytes cannot be sent in one frame; send them in pieces`,
    )
  for (const { dtype, shape, data } of tensors) {
    const bytes = byteLengthOf(dtype, elementCount(shape))
    if (!(data instanceof arrayTypeOf(dtype)) || bytes !== data.byteLength)
      throw new InvariantError(`tensor data is not ${dtype} [${shape.join(', ')}]`)
  }
}

/**
 * The frame of a message, in pieces to be sent one after the other. Tensor pieces are views: not copied, and not
 * to be changed until they are sent.
 *
 * @throws InvariantError when the message is not one that a receiver would take
 */
export function encodeFrame(message: WireMessage): Uint8Array[] {
  const header = wireHeader.safeParse(message.header)
  if (!header.success)
    throw new InvariantError(
      `message '${message.header.type}' cannot be sent: ${describeIssue(header.error)}`,
    )
  checkTensors(message.tensors)
  const tensors = message.tensors.map(({ dtype, shape }) => ({ dtype, shape }))
  const json = new TextEncoder().encode(JSON.stringify({ ...header.data, tensors }))
  const headerBytes = padded(json.length)
  if (headerBytes > maxHeaderBytes)
    throw new InvariantError(`message '${message.header.type}' has a header above ${maxHeaderBytes} bytes`)
  const first = prefixOf(headerBytes)
  first.set(json, prefixBytes)
  first.fill(0x20, prefixBytes + json.length)
  const pieces: Uint8Array[] = [first]
  for (const { data } of message.tensors) {
    if (data.byteLength > 0) pieces.push(asBytes(data))
    const padding = padded(data.byteLength) - data.byteLength
    if (padding > 0) pieces.push(new Uint8Array(padding))
  }
  return pieces
}

/** A frame that says only "I live". */
export function encodeKeepAlive(): Uint8Array {
  return prefixOf(0)
}

/** What a reader tells of the bytes it was given, at once and in their order. */
export interface FrameEvents {
  /** A header was read, and no memory yet taken for its tensors. What it throws leaves `push`: the frame is refused. */
  onHeader?(header: WireHeader): void
  onMessage(message: WireMessage): void
  onKeepAlive?(): void
  readonly limits?: FrameLimits
}

export interface FrameReader {
  /** Take any piece of the byte stream. @throws BadMessageError at the first wrong byte, and ever after */
  push(piece: Uint8Array): void
  /** The stream has ended. @throws BadMessageError when it ended within a frame */
  finish(): void
}

/** Bytes that a frame still lacks: where they go, and what to do when they are there. */
interface Section {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly onFull: (bytes: Uint8Array<ArrayBuffer>) => void
}

/** Fill one section after the other from pieces of any size. */
function createFiller(first: Section) {
  let section = first
  let filled = 0
  return {
    expect(next: Section): void {
      section = next
      filled = 0
    },
    push(piece: Uint8Array): void {
      let rest = piece
      while (rest.length > 0) {
        const taken = rest.subarray(0, section.bytes.length - filled)
        section.bytes.set(taken, filled)
        filled += taken.length
        rest = rest.subarray(taken.length)
        if (filled === section.bytes.length) section.onFull(section.bytes)
      }
    },
    /** Whether nothing has come of a section that is finished by `onFull`. */
    isBefore: (onFull: Section['onFull']): boolean => filled === 0 && section.onFull === onFull,
  }
}

/** @returns the header's bytes; 0 for a keep-alive @throws BadMessageError */
function readPrefix(prefix: Uint8Array<ArrayBuffer>, limit: Bytes): Bytes {
  const view = new DataView(prefix.buffer)
  if (view.getUint32(0, true) !== magic) throw new BadMessageError('bytes that are no frame of this version')
  const headerBytes = view.getUint32(4, true)
  if (headerBytes > limit || headerBytes % alignment !== 0)
    throw new BadMessageError(`a frame claims a header of ${headerBytes} bytes`)
  return headerBytes
}

function parseHeader(bytes: Uint8Array): { header: WireHeader; tensors: TensorList } {
  let parsed: unknown
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new BadMessageError('a frame has a header that is not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || !('tensors' in parsed))
    throw new BadMessageError('a frame has a header without a list of tensors')
  const { tensors, ...rest } = parsed
  const list = tensorList.safeParse(tensors)
  if (!list.success) throw new BadMessageError(`a frame has wrong tensors: ${describeIssue(list.error)}`)
  const header = wireHeader.safeParse(rest)
  if (!header.success) throw new BadMessageError(`a frame has a wrong header: ${describeIssue(header.error)}`)
  return { header: header.data, tensors: list.data }
}

/** Take the memory of a body. @throws BadMessageError where the machine has not that much to give */
function allocateBody(bytes: Bytes): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes)
  } catch {
    throw new BadMessageError(`a frame of ${bytes} bytes is more than this machine has memory for`)
  }
}

function viewTensor(
  body: Uint8Array<ArrayBuffer>,
  at: number,
  { dtype, shape }: TensorList[number],
): HostTensor {
  const arrayType = arrayTypeOf(dtype)
  const length = byteLengthOf(dtype, elementCount(shape)) / arrayType.BYTES_PER_ELEMENT
  return { dtype, shape, data: new arrayType(body.buffer, at, length) }
}

/** The tensors of a body, as aligned views of it. @throws BadMessageError when the padding is not zero */
function viewTensors(body: Uint8Array<ArrayBuffer>, list: TensorList): HostTensor[] {
  let at = 0
  return list.map((entry) => {
    const tensor = viewTensor(body, at, entry)
    const end = at + tensor.data.byteLength
    at += padded(tensor.data.byteLength)
    if (body.subarray(end, at).some((byte) => byte !== 0))
      throw new BadMessageError('a frame has bytes between its tensors')
    return tensor
  })
}

/**
 * Turn a byte stream, in whatever pieces it comes, back into messages. A body is allocated once, when its size is
 * known to be allowed, and filled in place; the tensors of a message are views of it.
 */
export function createFrameReader(events: FrameEvents): FrameReader {
  const limits = events.limits ?? fullLimits
  const filler = createFiller(beginFrame())
  let failure: BadMessageError | undefined

  function beginFrame(): Section {
    return { bytes: new Uint8Array(prefixBytes), onFull: onPrefix }
  }
  function onPrefix(prefix: Uint8Array<ArrayBuffer>): void {
    const headerBytes = readPrefix(prefix, limits.headerBytes)
    if (headerBytes > 0) {
      filler.expect({ bytes: new Uint8Array(headerBytes), onFull: onHeader })
      return
    }
    filler.expect(beginFrame())
    events.onKeepAlive?.()
  }
  function onHeader(bytes: Uint8Array): void {
    const { header, tensors } = parseHeader(bytes)
    events.onHeader?.(header)
    const bodyBytes = bodyBytesOf(tensors, limits.bodyBytes)
    if (bodyBytes === undefined)
      throw new BadMessageError(`a '${header.type}' frame claims tensors above ${limits.bodyBytes} bytes`)
    const onFull = (body: Uint8Array<ArrayBuffer>): void => {
      const message = { header, tensors: viewTensors(body, tensors) }
      filler.expect(beginFrame())
      events.onMessage(message)
    }
    if (bodyBytes === 0) onFull(new Uint8Array(0))
    else filler.expect({ bytes: allocateBody(bodyBytes), onFull })
  }
  return {
    push(piece) {
      if (failure !== undefined) throw failure
      try {
        filler.push(piece)
      } catch (error) {
        failure = error instanceof BadMessageError ? error : new BadMessageError('a frame was refused')
        throw error
      }
    },
    finish() {
      if (failure !== undefined) throw failure
      if (!filler.isBefore(onPrefix)) throw new BadMessageError('the stream ended in the middle of a frame')
    },
  }
}
