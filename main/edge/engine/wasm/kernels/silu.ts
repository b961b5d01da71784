/** y = x·s with s = σ(x); dx = dy·(s + y·(1 − s)). Elements [from, to). */
import { at, fma, put, sigmoid } from './vector'

export function silu(from: i32, to: i32, x: usize, y: usize): void {
  for (let i = from; i < to; i += 4) {
    const v = v128.load(at(x, i))
    put(at(y, i), f32x4.mul(v, sigmoid(v)), to - i)
  }
}

export function siluBack(from: i32, to: i32, x: usize, dy: usize, dx: usize): void {
  for (let i = from; i < to; i += 4) {
    const v = v128.load(at(x, i))
    const s = sigmoid(v)
    const slope = fma(f32x4.mul(v, s), f32x4.sub(f32x4.splat(1), s), s)
    put(at(dx, i), f32x4.mul(v128.load(at(dy, i)), slope), to - i)
  }
}
