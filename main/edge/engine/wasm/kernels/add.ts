/** Sums element by element, in place or not. */
import { at, put } from './vector'

/** c = a + b, elements [from, to). */
export function add(from: i32, to: i32, a: usize, b: usize, c: usize): void {
  for (let i = from; i < to; i += 4)
    put(at(c, i), f32x4.add(v128.load(at(a, i)), v128.load(at(b, i))), to - i)
}

/** y[r, :] = x[r, :] + row[:], rows [from, to) of a width. */
export function addToRows(from: i32, to: i32, width: i32, x: usize, row: usize, y: usize): void {
  for (let r = from; r < to; r++) add(0, width, at(x, r * width), row, at(y, r * width))
}
