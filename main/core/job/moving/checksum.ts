/** A checksum of numbers on their way: it finds what went wrong by accident, not what somebody made up. */

/** Odd numbers with well spread bits: 2^32 / golden ratio, and those of MurmurHash3. */
const spread = 0x9e3779b1
const first = 0xcc9e2d51
const second = 0x1b873593

const mixed = (hash: number): number => {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return half ^ (half >>> 13)
}

const hex = (hash: number): string => (mixed(hash) >>> 0).toString(16).padStart(8, '0')

/** Of all that was added, whatever the portions: two lanes of 32 bits. Bits count, so that 0 is not -0. */
export class Checksum {
  #one: number = first
  #two: number = second
  #length = 0

  add(values: Float32Array): this {
    const { length } = values
    const bits = new Uint32Array(values.buffer, values.byteOffset, length)
    let [one, two] = [this.#one, this.#two]
    // By index: an iterator of a typed array takes twenty times as long.
    for (let index = 0; index < length; index++) {
      const word = bits[index] ?? 0
      one = Math.imul(one ^ word, spread)
      one ^= one >>> 15
      two = (Math.imul(two, first) + word) | 0
      two ^= two >>> 13
    }
    this.#one = one
    this.#two = two
    this.#length += length
    return this
  }

  /** 16 hex digits. */
  get text(): string {
    return hex(this.#one ^ this.#length) + hex(this.#two + this.#length)
  }
}

export const checksumOf = (values: Float32Array): string => new Checksum().add(values).text
