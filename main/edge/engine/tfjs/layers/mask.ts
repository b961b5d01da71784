/** The numbers of a dropout mask: plain arithmetic, so that every backend and every machine drops the same elements. */

/**
 * 0 with probability `rate`, else 1/(1 − rate), for each element.
 *
 * Element i hashes its own index with the seed (the finaliser of MurmurHash3), so no state is carried.
 * @see Appleby, MurmurHash3, fmix32
 */
export function keepMask(seed: number, rate: number, length: number): Float32Array {
  const mask = new Float32Array(length)
  const threshold = rate * 4294967296
  const kept = 1 / (1 - rate)
  for (let index = 0; index < length; index++) {
    let hash = (seed + Math.imul(index, 0x9e3779b9)) | 0
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
    mask[index] = hash >>> 0 < threshold ? 0 : kept
  }
  return mask
}
