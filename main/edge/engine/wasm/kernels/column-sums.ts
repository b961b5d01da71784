/** sums[j] += Σ_r x[r, j], columns [from, to) of [R, N]: the gradient by a bias. Blocks of rows keep rounding small. */
import { at, put } from './vector'

export function columnSums(from: i32, to: i32, rows: i32, width: i32, x: usize, sums: usize): void {
  for (let r0 = 0; r0 < rows; r0 += 64) {
    const end = min(rows, r0 + 64)
    for (let j = from; j < to; j += 4) {
      let sum = f32x4.splat(0)
      for (let r = r0; r < end; r++) sum = f32x4.add(sum, v128.load(at(x, r * width + j)))
      put(at(sums, j), f32x4.add(v128.load(at(sums, j)), sum), to - j)
    }
  }
}
