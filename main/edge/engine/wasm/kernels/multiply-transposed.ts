/**
 * C[M, N] += A[P, M]ᵀ · B[P, N], rows [from, to) of C: the gradient by a matrix of weights.
 *
 * Both are packed, DEPTH rows of them at a time: read where they lie, each row would be a line of the cache of its own,
 * and where rows are a power of two apart those lines drive each other out.
 * `add` 0: C is overwritten.
 */
import { packPanels, packStrips } from './pack'
import { addressTable, COLUMNS, DEPTH, packedPanels, packedStrips, ROWS, spareTile } from './scratch'
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
  for (let j0 = 0; j0 < n; j0 += COLUMNS) {
    const columns = min(n - j0, COLUMNS)
    for (let p0 = 0; p0 < p; p0 += DEPTH) {
      const depth = min(p - p0, DEPTH)
      packPanels(at(b, p0 * ldb + j0), ldb, 1, depth, columns, packedPanels(), depth * NR)
      const adds = add != 0 || p0 > 0
      for (let i0 = from; i0 < to; i0 += ROWS) {
        const rows = min(to - i0, ROWS)
        packStrips(at(a, p0 * lda + i0), lda, depth, rows, packedStrips())
        addBlock(rows, columns, depth, at(c, i0 * ldc + j0), ldc, adds)
      }
    }
  }
}

/** The product of what is packed. */
function addBlock(rows: i32, columns: i32, depth: i32, c: usize, ldc: i32, adds: boolean): void {
  const run = addressTable()
  store<usize>(run, packedStrips())
  store<usize>(run, packedPanels(), 4)
  store<i32>(run, depth, 8)
  for (let j = 0; j < columns; j += NR) {
    for (let i = 0; i < rows; i += MR) {
      const tile = at(c, i * ldc + j)
      tileOfColumns(
        1,
        run,
        (<usize>(i * depth)) << 2,
        (<usize>(j * depth)) << 2,
        (<usize>MR) << 2,
        (<usize>NR) << 2,
        min(rows - i, MR),
        min(columns - j, NR),
        tile,
        ldc,
        adds ? tile : 0,
        ldc,
        spareTile(),
      )
    }
  }
}
