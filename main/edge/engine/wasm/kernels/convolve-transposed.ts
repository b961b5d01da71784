/**
 * dWeights[tap, c, f] += Σ_m source[pixel(m, tap), c] · dOut[m, f], the gradient by the weights of a convolution.
 *
 * Work is split by (tap, six channels). Outputs come in blocks of a few rows of an image, which stay in the cache
 * while all taps and channels pass over them; a run is the part of a row whose pixels lie inside the source.
 */
import { ConvolutionPlan, tapDown, tapRight, tapWeights } from './convolution-plan'
import { addressTable, DEPTH, RUNS, spareTile } from './scratch'
import { MR, NR, tileOfColumns } from './tile'
import { at } from './vector'

export function convolveTransposed(
  from: i32,
  to: i32,
  planAt: usize,
  images: i32,
  source: usize,
  dOut: usize,
  dWeights: usize,
): void {
  const plan = changetype<ConvolutionPlan>(planAt)
  const strips = (plan.depth + MR - 1) / MR
  const lines = images * plan.rows
  const together = min(max(1, DEPTH / plan.columns), RUNS)
  for (let line = 0; line < lines; line += together) {
    let listed = -1
    let runs = 0
    for (let unit = from; unit < to; unit++) {
      const tap = unit / strips
      const c = (unit - tap * strips) * MR
      if (tap != listed) runs = listRuns(plan, tap, line, min(line + together, lines), source, dOut)
      listed = tap
      addStrip(plan, runs, c, at(dWeights, tapWeights(plan, tap) + c * plan.rowStep))
    }
  }
}

/** Add the runs' products to the weights of six channels, all filters. */
function addStrip(plan: ConvolutionPlan, runs: i32, c: i32, strip: usize): void {
  for (let f = 0; f < plan.filters; f += NR) {
    const tile = at(strip, f)
    tileOfColumns(
      runs,
      addressTable(),
      (<usize>c) << 2,
      (<usize>f) << 2,
      (<usize>(plan.step * plan.pixelStep)) << 2,
      (<usize>plan.outStep) << 2,
      min(plan.depth - c, MR),
      min(plan.filters - f, NR),
      tile,
      plan.rowStep,
      tile,
      plan.rowStep,
      spareTile(),
    )
  }
}

/** (source, dOut, length) of each line in which a tap sees anything. @returns how many */
function listRuns(plan: ConvolutionPlan, tap: i32, from: i32, to: i32, source: usize, dOut: usize): i32 {
  const right = tapRight(plan, tap)
  let first = 0
  while (first < plan.columns && first * plan.step + right < 0) first++
  let end = plan.columns
  while (end > first && (end - 1) * plan.step + right >= plan.width) end--
  if (end == first) return 0
  let runs = 0
  for (let line = from; line < to; line++) {
    const image = line / plan.rows
    const y = (line - image * plan.rows) * plan.step + tapDown(plan, tap)
    if (u32(y) >= u32(plan.height)) continue
    const x = first * plan.step + right
    const entry = addressTable() + <usize>(runs * 12)
    store<usize>(entry, at(source, ((image * plan.height + y) * plan.width + x) * plan.pixelStep))
    store<usize>(entry, at(dOut, (line * plan.columns + first) * plan.outStep), 4)
    store<i32>(entry, end - first, 8)
    runs++
  }
  return runs
}
