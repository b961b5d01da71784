/** out = a·x + b·y, elements [from, to); in place or not. */
import { at, fma, put } from './vector'

export function mix(from: i32, to: i32, a: f32, x: usize, b: f32, y: usize, out: usize): void {
  for (let i = from; i < to; i += 4) {
    const scaled = f32x4.mul(v128.load(at(y, i)), f32x4.splat(b))
    put(at(out, i), fma(v128.load(at(x, i)), f32x4.splat(a), scaled), to - i)
  }
}
