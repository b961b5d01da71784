/**
 * Rows of logits [R, V], rows [from, to): loss = ln Σ e^x − x[label]; dLogits = (softmax − one-hot)·share, or none
 * where its address is 0. `seen` gets (loss, 1 if the label is the first guess, 1 if it is among the first five) a
 * row. A row whose label is `ignore` has loss 0 and gradient 0.
 */
import { at, exp, largestOf, put, sumOf, take } from './vector'

const lowest: f32 = -3e38

export function crossEntropy(
  from: i32,
  to: i32,
  classes: i32,
  logits: usize,
  labels: usize,
  ignore: i32,
  share: f32,
  dLogits: usize,
  seen: usize,
): void {
  for (let r = from; r < to; r++) {
    const row = at(logits, r * classes)
    const d = dLogits ? at(dLogits, r * classes) : 0
    const label = load<i32>(at(labels, r))
    if (label == ignore) {
      memory.fill(at(seen, 3 * r), 0, 12)
      if (d) memory.fill(d, 0, (<usize>classes) << 2)
    } else {
      countGuesses(row, classes, label, at(seen, 3 * r + 1))
      store<f32>(at(seen, 3 * r), lossOfRow(row, classes, label, share, d))
    }
  }
}

/** Loss of one row; its gradient may take the row's own place. */
function lossOfRow(row: usize, classes: i32, label: i32, share: f32, d: usize): f32 {
  let most = f32x4.splat(lowest)
  for (let i = 0; i < classes; i += 4) most = f32x4.pmax(most, take(at(row, i), classes - i, lowest))
  const top = largestOf(most)
  const own = load<f32>(at(row, label)) - top
  const shift = f32x4.splat(top)
  let sum = f32x4.splat(0)
  for (let i = 0; i < classes; i += 4) {
    const power = exp(f32x4.sub(take(at(row, i), classes - i, -Infinity), shift))
    if (d) put(at(d, i), power, classes - i)
    sum = f32x4.add(sum, power)
  }
  const total = sumOf(sum)
  if (d) {
    const factor = f32x4.splat(share / total)
    for (let i = 0; i < classes; i += 4) put(at(d, i), f32x4.mul(v128.load(at(d, i)), factor), classes - i)
    store<f32>(at(d, label), load<f32>(at(d, label)) - share)
  }
  return <f32>(Math.log(total) - own)
}

function countGuesses(row: usize, classes: i32, label: i32, hits: usize): void {
  const own = load<f32>(at(row, label))
  let above = 0
  let before = 0
  for (let i = 0; i < classes; i++) {
    const value = load<f32>(at(row, i))
    above += i32(value > own)
    before += i32(value == own && i < label)
  }
  store<f32>(hits, above + before == 0 ? 1 : 0)
  store<f32>(hits, above < 5 ? 1 : 0, 4)
}
