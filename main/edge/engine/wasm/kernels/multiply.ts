/**
 * C[M, N] = start + A[M, K] · B[K, N], rows [from, to) of it.
 *
 * A has rows lda apart. Element (k, j) of B lies at k·bRowStep + j·bColumnStep, so that a transposed B needs no copy.
 * start: 0 for nothing, a bias with ldStart 0, or C itself with ldc to add to it.
 */
import { packPanels } from './pack'
import { addressTable, COLUMNS, DEPTH, packedPanels, ROWS, spareTile } from './scratch'
import { MR, NR, tileOfRows } from './tile'
import { at } from './vector'

export function multiply(
  from: i32,
  to: i32,
  k: i32,
  n: i32,
  a: usize,
  lda: i32,
  b: usize,
  bRowStep: i32,
  bColumnStep: i32,
  c: usize,
  ldc: i32,
  start: usize,
  ldStart: i32,
): void {
  const panels = packedPanels()
  for (let j0 = 0; j0 < n; j0 += COLUMNS) {
    const columns = min(n - j0, COLUMNS)
    for (let k0 = 0; k0 < k; k0 += DEPTH) {
      const depth = min(k - k0, DEPTH)
      packPanels(
        at(b, k0 * bRowStep + j0 * bColumnStep),
        bRowStep,
        bColumnStep,
        depth,
        columns,
        panels,
        depth * NR,
      )
      const block = k0 == 0 ? start : c
      const ldBlock = k0 == 0 ? ldStart : ldc
      for (let i0 = from; i0 < to; i0 += ROWS) {
        const rows = min(to - i0, ROWS)
        listRows(at(a, i0 * lda + k0), lda, rows)
        const corner = i0 * ldc + j0
        const begin = block ? at(block, i0 * ldBlock + j0) : 0
        for (let j = 0; j < columns; j += NR) {
          let table = addressTable()
          for (let i = 0; i < rows; i += MR) {
            tileOfRows(
              1,
              table,
              depth,
              at(panels, j * depth),
              min(rows - i, MR),
              min(columns - j, NR),
              at(c, corner + i * ldc + j),
              ldc,
              begin ? at(begin, i * ldBlock + j) : 0,
              ldBlock,
              spareTile(),
            )
            table += (<usize>MR) << 2
          }
        }
      }
    }
  }
}

/** The same, all rows and columns [from, to) of it: nothing is packed twice by threads that share the columns. */
export function multiplyColumns(
  from: i32,
  to: i32,
  rows: i32,
  k: i32,
  a: usize,
  lda: i32,
  b: usize,
  bRowStep: i32,
  bColumnStep: i32,
  c: usize,
  ldc: i32,
  start: usize,
  ldStart: i32,
): void {
  const part = at(b, from * bColumnStep)
  const begin = start ? at(start, from) : 0
  multiply(0, rows, k, to - from, a, lda, part, bRowStep, bColumnStep, at(c, from), ldc, begin, ldStart)
}

/** Addresses of rows, tile after tile; a tile at the edge repeats the last. */
function listRows(a: usize, lda: i32, rows: i32): void {
  const table = addressTable()
  const whole = ((rows + MR - 1) / MR) * MR
  for (let i = 0; i < whole; i++) store<usize>(at(table, i), at(a, min(i, rows - 1) * lda))
}
