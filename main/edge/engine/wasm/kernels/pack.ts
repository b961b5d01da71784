/**
 * B as panels of NR columns: out[panel][k][NR], zeros beyond the last column.
 * Element (k, j) of B lies at k·rowStep + j·columnStep, one of which is 1; panels lie `panelStep` floats apart.
 */
import { MR, NR } from './tile'
import { at } from './vector'

export function packPanels(
  b: usize,
  rowStep: i32,
  columnStep: i32,
  depth: i32,
  columns: i32,
  out: usize,
  panelStep: i32,
): void {
  for (let j = 0; j < columns; j += NR) {
    const width = min(columns - j, NR)
    const panel = at(b, j * columnStep)
    if (columnStep == 1) copyRows(panel, rowStep, width, depth, out)
    else transposeColumns(panel, columnStep, width, depth, out)
    out = at(out, panelStep)
  }
}

/** A as strips of MR columns: out[strip][p][MR], zeros beyond the last column. Rows of A lie lda apart. */
export function packStrips(a: usize, lda: i32, depth: i32, columns: i32, out: usize): void {
  const step = (<usize>lda) << 2
  for (let i = 0; i < columns; i += MR) {
    const width = min(columns - i, MR)
    let from = at(a, i)
    if (width == MR) {
      for (let p = 0; p < depth; p++) {
        v128.store(out, v128.load(from))
        store<i64>(out, load<i64>(from, 16), 16)
        from += step
        out += (<usize>MR) << 2
      }
    } else {
      for (let p = 0; p < depth; p++) {
        for (let j = 0; j < MR; j++) store<f32>(at(out, j), j < width ? load<f32>(at(from, j)) : 0)
        from += step
        out += (<usize>MR) << 2
      }
    }
  }
}

/** out[k][j] = b[k·rowStep + j] */
function copyRows(b: usize, rowStep: i32, width: i32, depth: i32, out: usize): void {
  const step = (<usize>rowStep) << 2
  if (width == NR) {
    for (let k = 0; k < depth; k++) {
      v128.store(out, v128.load(b))
      v128.store(out, v128.load(b, 16), 16)
      if (NR == 16) {
        v128.store(out, v128.load(b, 32), 32)
        v128.store(out, v128.load(b, 48), 48)
      }
      b += step
      out += (<usize>NR) << 2
    }
    return
  }
  for (let k = 0; k < depth; k++) {
    for (let j = 0; j < NR; j++) store<f32>(at(out, j), j < width ? load<f32>(at(b, j)) : 0)
    b += step
    out += (<usize>NR) << 2
  }
}

/** out[k][j] = b[k + j·columnStep], four by four. */
function transposeColumns(b: usize, columnStep: i32, width: i32, depth: i32, out: usize): void {
  const step = (<usize>columnStep) << 2
  const outStep = (<usize>NR) << 2
  let j = 0
  for (; j + 4 <= width; j += 4) {
    let from = at(b, j * columnStep)
    let to = at(out, j)
    let k = 0
    for (; k + 4 <= depth; k += 4) {
      const r0 = v128.load(from)
      const r1 = v128.load(from + step)
      const r2 = v128.load(from + 2 * step)
      const r3 = v128.load(from + 3 * step)
      const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5)
      const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7)
      const low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5)
      const high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7)
      v128.store(to, v128.shuffle<f64>(low01, low23, 0, 2))
      v128.store(to + outStep, v128.shuffle<f64>(low01, low23, 1, 3))
      v128.store(to + 2 * outStep, v128.shuffle<f64>(high01, high23, 0, 2))
      v128.store(to + 3 * outStep, v128.shuffle<f64>(high01, high23, 1, 3))
      from += 16
      to += 4 * outStep
    }
    for (; k < depth; k++) {
      for (let i = 0; i < 4; i++) store<f32>(at(to, i), load<f32>(from + <usize>i * step))
      from += 4
      to += outStep
    }
  }
  for (; j < NR; j++) {
    let from = at(b, j * columnStep)
    let to = at(out, j)
    for (let k = 0; k < depth; k++) {
      store<f32>(to, j < width ? load<f32>(from) : 0)
      from += 4
      to += outStep
    }
  }
}
