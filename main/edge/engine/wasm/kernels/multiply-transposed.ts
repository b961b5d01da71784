/**
 * C[M, N] += A[P, M]ᵀ · B[P, N], rows [from, to) of C: the gradient by a matrix of weights.
 *
 * Neither is packed: the tile walks down both matrices, whose rows lie lda and ldb apart.
 * `add` 0: C is overwritten.
 */
import { addressTable, DEPTH, spareTile } from './scratch'
import { MR, NR, tileOfColumns } from './tile'
import { at } from './vector'

export function multiplyTransposed(
  from: i32,
  to: i32,
  p: i32,
  n: i32,
  a: usize,
  lda: i32,
  b: usize,
  ldb: i32,
  c: usize,
  ldc: i32,
  add: i32,
): void {
  const run = addressTable()
  for (let p0 = 0; p0 < p; p0 += DEPTH) {
    store<usize>(run, at(a, p0 * lda))
    store<usize>(run, at(b, p0 * ldb), 4)
    store<i32>(run, min(p - p0, DEPTH), 8)
    const adds = add != 0 || p0 > 0
    for (let i = from; i < to; i += MR) {
      for (let j = 0; j < n; j += NR) {
        const tile = at(c, i * ldc + j)
        tileOfColumns(
          1,
          run,
          (<usize>i) << 2,
          (<usize>j) << 2,
          (<usize>lda) << 2,
          (<usize>ldb) << 2,
          min(to - i, MR),
          min(n - j, NR),
          tile,
          ldc,
          adds ? tile : 0,
          ldc,
          spareTile(),
        )
      }
    }
  }
}
