/**
 * sums[j] += Σ_r x[r, j], columns [from, to) of [R, N]: the gradient by a bias. Blocks of rows keep rounding small, and
 * two cache lines of a row are summed at once: rows may lie a power of two apart, and a line comes only once.
 */
import { addFour, at, put } from './vector'

export function columnSums(from: i32, to: i32, rows: i32, width: i32, x: usize, sums: usize): void {
  for (let r0 = 0; r0 < rows; r0 += 64) {
    const end = min(rows, r0 + 64)
    let j = from
    for (; j + 32 <= to; j += 32) addTwoLines(at(x, r0 * width + j), end - r0, width, at(sums, j))
    for (; j < to; j += 4) {
      let sum = f32x4.splat(0)
      for (let r = r0; r < end; r++) sum = f32x4.add(sum, v128.load(at(x, r * width + j)))
      put(at(sums, j), f32x4.add(v128.load(at(sums, j)), sum), to - j)
    }
  }
}

function addTwoLines(x: usize, rows: i32, width: i32, sums: usize): void {
  const step = (<usize>width) << 2
  const zero = f32x4.splat(0)
  let s0 = zero,
    s1 = zero,
    s2 = zero,
    s3 = zero,
    s4 = zero,
    s5 = zero,
    s6 = zero,
    s7 = zero
  for (let r = 0; r < rows; r++) {
    s0 = f32x4.add(s0, v128.load(x))
    s1 = f32x4.add(s1, v128.load(x, 16))
    s2 = f32x4.add(s2, v128.load(x, 32))
    s3 = f32x4.add(s3, v128.load(x, 48))
    s4 = f32x4.add(s4, v128.load(x, 64))
    s5 = f32x4.add(s5, v128.load(x, 80))
    s6 = f32x4.add(s6, v128.load(x, 96))
    s7 = f32x4.add(s7, v128.load(x, 112))
    x += step
  }
  addFour(sums, s0, s1, s2, s3)
  addFour(at(sums, 16), s4, s5, s6, s7)
}
