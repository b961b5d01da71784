/**
 * float32 as whole numbers −127..127, a float32 scale a block: scale = largest magnitude / 127, code = value / scale,
 * to nearest, ties to even. So no value is off by more than half a scale, and a block of zeros stays one.
 *
 *     scale of each block (float32, little-endian) ... | code of each element (int8) ...
 */
import { blockCount, blockElements, byteLengthOf, scaleBytes } from '../tensor.ts'

const largestCode = 127
const magnitudeBits = 0x7fff_ffff
/** Bits of an infinity; those of a NaN are more. */
const infinityBits = 0x7f80_0000
/** A block no larger than this is written as zeros: its scale would be too small to divide by. */
const leastMagnitude = largestCode * 2 ** -126
/** A larger one, rounded up, would turn the largest float32 into an infinity. */
const largestScale = ((1 - 2 ** -23) * (2 - 2 ** -23) * 2 ** 127) / largestCode
/** 1.5·2^52: whatever is added to it and taken away again is rounded to a whole number, ties to even. */
const roundingShift = 6_755_399_441_055_744

/** Reads the bits of one float32. */
const bitsCell = new Int32Array(1)
const valueCell = new Float32Array(bitsCell.buffer)

/** The largest magnitude of elements [from, to); NaN where one is a NaN or an infinity. */
function largestMagnitude(bits: Int32Array, from: number, to: number): number {
  let largest = 0
  for (let at = from; at < to; at++) {
    const magnitude = (bits[at] ?? 0) & magnitudeBits
    if (magnitude > largest) largest = magnitude
  }
  if (largest >= infinityBits) return NaN
  bitsCell[0] = largest
  return valueCell[0] ?? 0
}

/** A block that holds a NaN or an infinity comes back as NaN throughout: what made it is not hidden from the receiver. */
export function encodeInt8Blocks(values: Float32Array): Uint8Array<ArrayBuffer> {
  const blocks = blockCount(values.length)
  const bytes = new Uint8Array(byteLengthOf('int8-blocks', values.length))
  const scales = new Float32Array(bytes.buffer, 0, blocks)
  const codes = new Int8Array(bytes.buffer, scaleBytes * blocks)
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length)
  for (let block = 0; block < blocks; block++) {
    const from = block * blockElements
    const to = Math.min(values.length, from + blockElements)
    const largest = largestMagnitude(bits, from, to)
    if (largest <= leastMagnitude) continue
    scales[block] = Math.min(largest / largestCode, largestScale)
    const inverse = largestCode / largest
    // A NaN is stored as code 0.
    for (let at = from; at < to; at++) codes[at] = (values[at] ?? 0) * inverse + roundingShift - roundingShift
  }
  return bytes
}

export function decodeInt8Blocks(bytes: Uint8Array, values: Float32Array): void {
  const blocks = blockCount(values.length)
  const scales = new Float32Array(bytes.buffer, bytes.byteOffset, blocks)
  const codes = new Int8Array(bytes.buffer, bytes.byteOffset + scaleBytes * blocks, values.length)
  for (let block = 0; block < blocks; block++) {
    const scale = scales[block] ?? 0
    const to = Math.min(values.length, (block + 1) * blockElements)
    for (let at = block * blockElements; at < to; at++) values[at] = (codes[at] ?? 0) * scale
  }
}
