/** Half precision by its definition, in exact double arithmetic. */

export const values16 = (): Uint16Array<ArrayBuffer> => Uint16Array.from({ length: 65536 }, (_, bits) => bits)

/** What a half's bits stand for. */
export function floatOf(bits: number): number {
  const sign = bits >>> 15 === 1 ? -1 : 1
  const exponent = (bits >>> 10) & 31
  const fraction = bits & 1023
  if (exponent === 31) return fraction > 0 ? NaN : sign * Infinity
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** The nearest half; of two equally near the even one. Not for NaN. */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  if (magnitude >= 65520) return sign | 0x7c00
  let low = 0
  let high = 0x7c00
  // Bits of positive halves are in the order of their values.
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (floatOf(middle) <= magnitude) low = middle
    else high = middle
  }
  const above = high === 0x7c00 ? 65536 : floatOf(high)
  const [down, up] = [magnitude - floatOf(low), above - magnitude]
  return sign | (down < up || (down === up && low % 2 === 0) ? low : high)
}
