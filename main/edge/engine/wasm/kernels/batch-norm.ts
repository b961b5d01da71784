/**
 * Columns x [R, C]: ẑ = (x − mean)·inverse, inverse = 1/√(variance + ε), y = ẑ·scale + shift. Channels [from, to).
 * With g = dy·scale and means over rows: dx = (g − mean(g) − ẑ·mean(g·ẑ))·inverse; dScale += Σ dy·ẑ, dShift += Σ dy.
 * `variances` is unbiased, for the running statistics. Sums over blocks of 64 rows, added up in double precision.
 */
import { at, fma, put } from './vector'

/** Four sums in double precision. */
let low: v128 = f64x2.splat(0)
let high: v128 = f64x2.splat(0)

function clear(): void {
  low = f64x2.splat(0)
  high = f64x2.splat(0)
}

function gather(block: v128): void {
  low = f64x2.add(low, f64x2.promote_low_f32x4(block))
  high = f64x2.add(high, f64x2.promote_low_f32x4(v128.shuffle<f64>(block, block, 1, 0)))
}

/** The sums times a factor, in single precision. */
function gathered(factor: f64): v128 {
  const l = f32x4.demote_f64x2_zero(f64x2.mul(low, f64x2.splat(factor)))
  const h = f32x4.demote_f64x2_zero(f64x2.mul(high, f64x2.splat(factor)))
  return v128.shuffle<f64>(l, h, 0, 2)
}

export function batchNorm(
  from: i32,
  to: i32,
  rows: i32,
  width: i32,
  epsilon: f32,
  x: usize,
  scale: usize,
  shift: usize,
  y: usize,
  means: usize,
  inverses: usize,
  variances: usize,
): void {
  const share = <f64>1 / <f64>rows
  for (let c = from; c < to; c += 4) {
    const lanes = to - c
    const mean = columnMean(x, rows, width, c, share)
    sumSquares(x, rows, width, c, mean)
    const variance = gathered(share)
    const inverse = f32x4.div(f32x4.splat(1), f32x4.sqrt(f32x4.add(variance, f32x4.splat(epsilon))))
    put(at(means, c), mean, lanes)
    put(at(inverses, c), inverse, lanes)
    put(at(variances, c), gathered(<f64>1 / <f64>max(1, rows - 1)), lanes)
    const factor = f32x4.mul(v128.load(at(scale, c)), inverse)
    const offset = v128.load(at(shift, c))
    for (let r = 0; r < rows; r++) {
      const centred = f32x4.sub(v128.load(at(x, r * width + c)), mean)
      put(at(y, r * width + c), fma(centred, factor, offset), lanes)
    }
  }
}

function columnMean(x: usize, rows: i32, width: i32, c: i32, share: f64): v128 {
  clear()
  for (let r0 = 0; r0 < rows; r0 += 64) {
    let sum = f32x4.splat(0)
    for (let r = r0; r < min(rows, r0 + 64); r++) sum = f32x4.add(sum, v128.load(at(x, r * width + c)))
    gather(sum)
  }
  return gathered(share)
}

function sumSquares(x: usize, rows: i32, width: i32, c: i32, mean: v128): void {
  clear()
  for (let r0 = 0; r0 < rows; r0 += 64) {
    let squares = f32x4.splat(0)
    for (let r = r0; r < min(rows, r0 + 64); r++) {
      const d = f32x4.sub(v128.load(at(x, r * width + c)), mean)
      squares = fma(d, d, squares)
    }
    gather(squares)
  }
}

export function batchNormBack(
  from: i32,
  to: i32,
  rows: i32,
  width: i32,
  x: usize,
  scale: usize,
  means: usize,
  inverses: usize,
  dy: usize,
  dx: usize,
  dScale: usize,
  dShift: usize,
): void {
  const share = <f64>1 / <f64>rows
  for (let c = from; c < to; c += 4) {
    const lanes = to - c
    const mean = v128.load(at(means, c))
    const inverse = v128.load(at(inverses, c))
    const mid = columnMean(dy, rows, width, c, share)
    put(at(dShift, c), f32x4.add(v128.load(at(dShift, c)), gathered(1)), lanes)
    sumAlong(x, dy, rows, width, c, mean, inverse)
    put(at(dScale, c), f32x4.add(v128.load(at(dScale, c)), gathered(1)), lanes)
    if (!dx) continue
    const slope = f32x4.mul(gathered(share), inverse)
    const factor = f32x4.mul(v128.load(at(scale, c)), inverse)
    for (let r = 0; r < rows; r++) {
      const centred = f32x4.sub(v128.load(at(x, r * width + c)), mean)
      const d = f32x4.sub(f32x4.sub(v128.load(at(dy, r * width + c)), mid), f32x4.mul(centred, slope))
      put(at(dx, r * width + c), f32x4.mul(d, factor), lanes)
    }
  }
}

/** Σ dy·ẑ of four channels. */
function sumAlong(x: usize, dy: usize, rows: i32, width: i32, c: i32, mean: v128, inverse: v128): void {
  clear()
  for (let r0 = 0; r0 < rows; r0 += 64) {
    let sum = f32x4.splat(0)
    for (let r = r0; r < min(rows, r0 + 64); r++) {
      const i = r * width + c
      const z = f32x4.mul(f32x4.sub(v128.load(at(x, i)), mean), inverse)
      sum = fma(v128.load(at(dy, i)), z, sum)
    }
    gather(sum)
  }
}

/** Evaluation: y = (x − running mean)/√(running variance + ε)·scale + shift, rows [from, to). */
export function batchNormRunning(
  from: i32,
  to: i32,
  width: i32,
  epsilon: f32,
  x: usize,
  scale: usize,
  shift: usize,
  mean: usize,
  variance: usize,
  y: usize,
): void {
  for (let c = 0; c < width; c += 4) {
    const root = f32x4.sqrt(f32x4.add(v128.load(at(variance, c)), f32x4.splat(epsilon)))
    const factor = f32x4.div(v128.load(at(scale, c)), root)
    const offset = f32x4.sub(v128.load(at(shift, c)), f32x4.mul(v128.load(at(mean, c)), factor))
    for (let r = from; r < to; r++)
      put(at(y, r * width + c), fma(v128.load(at(x, r * width + c)), factor, offset), width - c)
  }
}
