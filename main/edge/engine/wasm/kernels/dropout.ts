/**
 * y[i] = 0 with probability `rate`, else x[i]·kept; elements [from, to), forth and back alike.
 * Element i hashes its own index with the seed, so nothing is stored and every engine drops the same elements.
 * @see Appleby, MurmurHash3, fmix32
 */
import { at } from './vector'

export function dropout(from: i32, to: i32, seed: i32, rate: f64, kept: f32, x: usize, y: usize): void {
  const threshold = rate * 4294967296
  for (let i = from; i < to; i++) {
    let hash = <u32>seed + <u32>i * 0x9e3779b9
    hash = (hash ^ (hash >>> 16)) * 0x85ebca6b
    hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35
    hash ^= hash >>> 16
    store<f32>(at(y, i), <f64>hash < threshold ? 0 : load<f32>(at(x, i)) * kept)
  }
}
