/** y = max(x, 0); dx = dy where y > 0, else 0. Elements [from, to); in place or not. */
import { at, put } from './vector'

export function relu(from: i32, to: i32, x: usize, y: usize): void {
  for (let i = from; i < to; i += 4) put(at(y, i), f32x4.pmax(v128.load(at(x, i)), f32x4.splat(0)), to - i)
}

export function reluBack(from: i32, to: i32, y: usize, dy: usize, dx: usize): void {
  for (let i = from; i < to; i += 4) {
    const passes = f32x4.gt(v128.load(at(y, i)), f32x4.splat(0))
    put(at(dx, i), v128.and(v128.load(at(dy, i)), passes), to - i)
  }
}
