/** Seeded chance that every participant draws alike: initial weights, data order, dropout, the planner's search. */

/** A source of chance. Same seed, same numbers, on every machine. */
export interface Rng {
  /** The next number in [0, 1), with 32 random bits. */
  next(): number
}

/** FNV-1a over the UTF-16 units of every part, so that ('a','bc') and ('ab','c') differ. 32 bits. */
export function seedFrom(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5
  for (const part of parts) {
    for (const unit of `${String(part)}\u0000`)
      hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash >>> 0
}

/** Mulberry32: a full-period 32-bit generator; quick, and good enough for shuffles and initial weights. Not for secrets. */
export function createRng(seed: number): Rng {
  let state = seed >>> 0
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
    },
  }
}

/** A standard normal number (Box and Muller). */
export function nextNormal(rng: Rng): number {
  const radius = Math.sqrt(-2 * Math.log(1 - rng.next()))
  return radius * Math.cos(2 * Math.PI * rng.next())
}

/** A whole number in [0, below). */
export function nextInt(rng: Rng, below: number): number {
  return Math.floor(rng.next() * below)
}

/** The numbers 0..length-1 in random order (Fisher and Yates). */
export function permutation(rng: Rng, length: number): Uint32Array {
  const order = Uint32Array.from({ length }, (_, index) => index)
  for (let last = length - 1; last > 0; last--) {
    const other = nextInt(rng, last + 1)
    const kept = order[last] ?? 0
    order[last] = order[other] ?? 0
    order[other] = kept
  }
  return order
}
