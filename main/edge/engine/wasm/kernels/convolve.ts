/**
 * out[m, f] = start[f] + Σ_tap Σ_c source[pixel(m, tap), c] · weights[tap, c, f], outputs m in [from, to).
 *
 * A matrix product whose rows are gathered: the tile reads the source where it lies, nothing is unfolded.
 */
import { ConvolutionPlan, tapDown, tapRight, tapWeights } from './convolution-plan'
import { packPanels } from './pack'
import { addressTable, COLUMNS, DEPTH, packedPanels, ROWS, spareTile } from './scratch'
import { MR, NR, tileOfRows } from './tile'
import { at } from './vector'

export function convolve(
  from: i32,
  to: i32,
  planAt: usize,
  source: usize,
  weights: usize,
  out: usize,
  bias: usize,
): void {
  const plan = changetype<ConvolutionPlan>(planAt)
  for (let j0 = 0; j0 < plan.filters; j0 += COLUMNS)
    convolveColumns(plan, from, to, j0, min(plan.filters - j0, COLUMNS), source, weights, out, bias)
}

/** The same, all of so many outputs and filters [from, to): nothing is packed twice by threads that share filters. */
export function convolveFilters(
  from: i32,
  to: i32,
  planAt: usize,
  outputs: i32,
  source: usize,
  weights: usize,
  out: usize,
  bias: usize,
): void {
  const plan = changetype<ConvolutionPlan>(planAt)
  for (let j0 = from; j0 < to; j0 += COLUMNS)
    convolveColumns(plan, 0, outputs, j0, min(to - j0, COLUMNS), source, weights, out, bias)
}

/** Outputs [from, to), as many filters from j0 as are packed at a time. */
function convolveColumns(
  plan: ConvolutionPlan,
  from: i32,
  to: i32,
  j0: i32,
  columns: i32,
  source: usize,
  weights: usize,
  out: usize,
  bias: usize,
): void {
  for (let c0 = 0; c0 < plan.depth; c0 += DEPTH) {
    const depth = min(plan.depth - c0, DEPTH)
    const together = DEPTH / depth
    for (let t0 = 0; t0 < plan.taps; t0 += together) {
      const start = c0 == 0 && t0 == 0 ? (bias ? at(bias, j0) : 0) : at(out, j0)
      const ldStart = c0 == 0 && t0 == 0 ? 0 : plan.outStep
      const taps = min(plan.taps - t0, together)
      packTaps(plan, weights, t0, taps, c0, depth, j0, columns)
      for (let i0 = from; i0 < to; i0 += ROWS) {
        listPixels(plan, i0, min(to - i0, ROWS), t0, taps, at(source, c0))
        multiplyBlock(i0, min(to - i0, ROWS), taps, depth, columns, at(out, j0), plan.outStep, start, ldStart)
      }
    }
  }
}

function packTaps(
  plan: ConvolutionPlan,
  weights: usize,
  t0: i32,
  taps: i32,
  c0: i32,
  depth: i32,
  j0: i32,
  columns: i32,
): void {
  for (let t = 0; t < taps; t++) {
    const b = tapWeights(plan, t0 + t) + c0 * plan.rowStep + j0 * plan.columnStep
    const panels = at(packedPanels(), t * depth * NR)
    packPanels(at(weights, b), plan.rowStep, plan.columnStep, depth, columns, panels, taps * depth * NR)
  }
}

/** The product of `rows` outputs, whose pixels are listed, with what is packed. */
function multiplyBlock(
  i0: i32,
  rows: i32,
  taps: i32,
  depth: i32,
  columns: i32,
  out: usize,
  ldc: i32,
  start: usize,
  ldStart: i32,
): void {
  for (let j = 0; j < columns; j += NR) {
    let table = addressTable()
    for (let i = 0; i < rows; i += MR) {
      tileOfRows(
        taps,
        table,
        depth,
        at(packedPanels(), j * taps * depth),
        min(rows - i, MR),
        min(columns - j, NR),
        at(out, (i0 + i) * ldc + j),
        ldc,
        start ? at(start, (i0 + i) * ldStart + j) : 0,
        ldStart,
        spareTile(),
      )
      table += (<usize>(taps * MR)) << 2
    }
  }
}

/** Addresses of the pixels that outputs see: MR a tap, tap after tap, tile after tile. */
function listPixels(plan: ConvolutionPlan, i0: i32, rows: i32, t0: i32, taps: i32, source: usize): void {
  const whole = ((rows + MR - 1) / MR) * MR
  for (let i = 0; i < whole; i++) {
    const m = i0 + min(i, rows - 1)
    const line = m / plan.columns
    const image = line / plan.rows
    const top = (line - image * plan.rows) * plan.step
    const left = (m - line * plan.columns) * plan.step
    let entry = at(addressTable(), (i / MR) * taps * MR + (i % MR))
    for (let t = t0; t < t0 + taps; t++) {
      const y = top + tapDown(plan, t)
      const x = left + tapRight(plan, t)
      const inside = u32(y) < u32(plan.height) && u32(x) < u32(plan.width)
      const pixel = ((image * plan.height + y) * plan.width + x) * plan.pixelStep
      store<usize>(entry, inside ? at(source, pixel) : plan.zeros)
      entry += (<usize>MR) << 2
    }
  }
}
