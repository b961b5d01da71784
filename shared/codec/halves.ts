/**
 * float32 as 16 bits: IEEE half precision, and bfloat16, its upper half. Both round to nearest, ties to even; what is
 * too large becomes an infinity, and a NaN stays one.
 *
 * Numbers are little-endian, as every machine is that Node 24 runs on.
 */
import type { Bytes } from '../units.ts'

const bytesPerHalf: Bytes = 2

/** 11 significant bits, largest 65504, steps of 2^-24 below 2^-14. */
export function encodeFloat16(values: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(bytesPerHalf * values.length)
  new Float16Array(bytes.buffer).set(values)
  return bytes
}

export function decodeFloat16(bytes: Uint8Array, values: Float32Array): void {
  values.set(new Float16Array(bytes.buffer, bytes.byteOffset, values.length))
}

const exponentBits = 0x7f80_0000
const magnitudeBits = 0x7fff_ffff
/** Set in the upper half: the NaN says nothing when it is computed with. */
const quiet = 0x0040

/** 8 significant bits and the whole range of float32. */
export function encodeBfloat16(values: Float32Array): Uint8Array<ArrayBuffer> {
  const halves = new Uint16Array(values.length)
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length)
  for (let at = 0; at < bits.length; at++) {
    const word = bits[at] ?? 0
    // Half a step less one, and one more where the last kept bit is odd: ties go to even.
    const rounded = (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
    halves[at] = (word & magnitudeBits) > exponentBits ? (word >>> 16) | quiet : rounded
  }
  return new Uint8Array(halves.buffer)
}

export function decodeBfloat16(bytes: Uint8Array, values: Float32Array): void {
  const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, values.length)
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length)
  for (let at = 0; at < bits.length; at++) bits[at] = (halves[at] ?? 0) << 16
}
