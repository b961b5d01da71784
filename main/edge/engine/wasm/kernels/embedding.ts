/** y[r, :] = table[ids[r], :], rows [from, to); dTable[ids[r], :] += dy[r, :], columns [from, to). Width D. */
import { at, put } from './vector'

export function embed(from: i32, to: i32, width: i32, ids: usize, table: usize, y: usize): void {
  for (let r = from; r < to; r++)
    memory.copy(at(y, r * width), at(table, load<i32>(at(ids, r)) * width), (<usize>width) << 2)
}

export function embedBack(
  from: i32,
  to: i32,
  rows: i32,
  width: i32,
  ids: usize,
  dy: usize,
  dTable: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const row = at(dTable, load<i32>(at(ids, r)) * width)
    for (let i = from; i < to; i += 4)
      put(at(row, i), f32x4.add(v128.load(at(row, i)), v128.load(at(dy, r * width + i))), to - i)
  }
}
