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
  for (let j0 = 0; j0 < plan.filters; j0 += COLUMNS) {
    for (let c0 = 0; c0 < plan.depth; c0 += DEPTH) {
      const depth = min(plan.depth - c0, DEPTH)
      const together = DEPTH / depth
      for (let t0 = 0; t0 < plan.taps; t0 += together) {
        const first = c0 == 0 && t0 == 0
        const taps = min(plan.taps - t0, together)
        packTaps(plan, weights, t0, taps, c0, depth, j0)
        for (let i0 = from; i0 < to; i0 += ROWS)
          multiplyBlock(plan, i0, min(to - i0, ROWS), t0, taps, at(source, c0), depth, j0, out, bias, first)
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
): void {
  const columns = min(plan.filters - j0, COLUMNS)
  for (let t = 0; t < taps; t++) {
    const b = tapWeights(plan, t0 + t) + c0 * plan.rowStep + j0 * plan.columnStep
    const panels = at(packedPanels(), t * depth * NR)
    packPanels(at(weights, b), plan.rowStep, plan.columnStep, depth, columns, panels, taps * depth * NR)
  }
}

/** The product of `rows` outputs with what is packed. */
function multiplyBlock(
  plan: ConvolutionPlan,
  i0: i32,
  rows: i32,
  t0: i32,
  taps: i32,
  source: usize,
  depth: i32,
  j0: i32,
  out: usize,
  bias: usize,
  first: boolean,
): void {
  listPixels(plan, i0, rows, t0, taps, source)
  const columns = min(plan.filters - j0, COLUMNS)
  const ldc = plan.outStep
  for (let j = 0; j < columns; j += NR) {
    let table = addressTable()
    for (let i = 0; i < rows; i += MR) {
      const c = at(out, (i0 + i) * ldc + j0 + j)
      const start = first ? (bias ? at(bias, j0 + j) : 0) : c
      tileOfRows(
        taps,
        table,
        depth,
        at(packedPanels(), j * taps * depth),
        min(rows - i, MR),
        min(columns - j, NR),
        c,
        ldc,
        start,
        first ? 0 : ldc,
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
