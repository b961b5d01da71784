/** Rows of probabilities and their gradient. */
import { at, exp, fma, largestOf, put, sumOf, take } from './vector'

const lowest: f32 = -3e38

/** row = softmax(scale·row) over the first `seen` of it, zeros to its end. */
export function softmaxRow(row: usize, seen: i32, width: i32, scale: f32): void {
  let most = f32x4.splat(lowest)
  for (let i = 0; i < seen; i += 4) most = f32x4.pmax(most, take(at(row, i), seen - i, lowest))
  const top = f32x4.splat(largestOf(most) * scale)
  const factor = f32x4.splat(scale)
  let sum = f32x4.splat(0)
  let next = f32x4.splat(0)
  let i = 0
  for (; i + 8 <= seen; i += 8) {
    const first = exp(f32x4.sub(f32x4.mul(v128.load(at(row, i)), factor), top))
    const second = exp(f32x4.sub(f32x4.mul(v128.load(at(row, i), 16), factor), top))
    v128.store(at(row, i), first)
    v128.store(at(row, i), second, 16)
    sum = f32x4.add(sum, first)
    next = f32x4.add(next, second)
  }
  for (; i < seen; i += 4) {
    put(at(row, i), exp(f32x4.sub(f32x4.mul(v128.load(at(row, i)), factor), top)), seen - i)
    sum = f32x4.add(sum, take(at(row, i), seen - i, 0))
  }
  const share = f32x4.splat(<f32>1 / sumOf(f32x4.add(sum, next)))
  for (let j = 0; j < seen; j += 4) put(at(row, j), f32x4.mul(v128.load(at(row, j)), share), seen - j)
  memory.fill(at(row, seen), 0, (<usize>(width - seen)) << 2)
}

/** dRow = p·(dRow − Σ p·dRow)·scale over the first `seen` of it, zeros to its end. */
export function softmaxRowBack(p: usize, dRow: usize, seen: i32, width: i32, scale: f32): void {
  let sum = f32x4.splat(0)
  for (let i = 0; i < seen; i += 4)
    sum = fma(take(at(p, i), seen - i, 0), take(at(dRow, i), seen - i, 0), sum)
  const mean = f32x4.splat(sumOf(sum))
  const factor = f32x4.splat(scale)
  for (let i = 0; i < seen; i += 4) {
    const d = f32x4.mul(v128.load(at(p, i)), f32x4.sub(v128.load(at(dRow, i)), mean))
    put(at(dRow, i), f32x4.mul(d, factor), seen - i)
  }
  memory.fill(at(dRow, seen), 0, (<usize>(width - seen)) << 2)
}
