/**
 * Columns x [R, C]: ẑ = (x − mean)·inverse, inverse = 1/√(variance + ε), y = ẑ·scale + shift. Channels [from, to).
 * With g = dy·scale and means over rows: dx = (g − mean(g) − ẑ·mean(g·ẑ))·inverse; dScale += Σ dy·ẑ, dShift += Σ dy.
 * `variances` is unbiased, for the running statistics.
 *
 * Sums run over blocks of 64 rows, which stay in the first-level cache while all channels pass, and are added up in
 * double precision: two vectors of two for every four channels.
 */
import { packedPanels } from './scratch'
import { at, fma, put } from './vector'

const BLOCK: i32 = 64

/** Sums in double precision of the four channels from c. */
function sumsOf(c: i32): usize {
  return packedPanels() + ((<usize>c) << 3)
}

function clear(from: i32, to: i32): void {
  memory.fill(sumsOf(from), 0, (<usize>(to - from + 4)) << 3)
}

function gather(c: i32, block: v128): void {
  const sums = sumsOf(c)
  const high = f64x2.promote_low_f32x4(v128.shuffle<f64>(block, block, 1, 0))
  v128.store(sums, f64x2.add(v128.load(sums), f64x2.promote_low_f32x4(block)))
  v128.store(sums, f64x2.add(v128.load(sums, 16), high), 16)
}

/** The sums times a factor, in single precision. */
function gathered(c: i32, factor: f64): v128 {
  const sums = sumsOf(c)
  const low = f32x4.demote_f64x2_zero(f64x2.mul(v128.load(sums), f64x2.splat(factor)))
  const high = f32x4.demote_f64x2_zero(f64x2.mul(v128.load(sums, 16), f64x2.splat(factor)))
  return v128.shuffle<f64>(low, high, 0, 2)
}

/** Σ x over rows. */
function sumColumns(from: i32, to: i32, rows: i32, width: i32, x: usize): void {
  clear(from, to)
  for (let r0 = 0; r0 < rows; r0 += BLOCK) {
    const end = min(rows, r0 + BLOCK)
    for (let c = from; c < to; c += 4) {
      let sum = f32x4.splat(0)
      for (let r = r0; r < end; r++) sum = f32x4.add(sum, v128.load(at(x, r * width + c)))
      gather(c, sum)
    }
  }
}

/** Σ (x − mean)² over rows. */
function sumSquares(from: i32, to: i32, rows: i32, width: i32, x: usize, means: usize): void {
  clear(from, to)
  for (let r0 = 0; r0 < rows; r0 += BLOCK) {
    const end = min(rows, r0 + BLOCK)
    for (let c = from; c < to; c += 4) {
      const mean = v128.load(at(means, c))
      let sum = f32x4.splat(0)
      for (let r = r0; r < end; r++) {
        const d = f32x4.sub(v128.load(at(x, r * width + c)), mean)
        sum = fma(d, d, sum)
      }
      gather(c, sum)
    }
  }
}

/** Σ dy·(x − mean) over rows. */
function sumAlong(from: i32, to: i32, rows: i32, width: i32, x: usize, means: usize, dy: usize): void {
  clear(from, to)
  for (let r0 = 0; r0 < rows; r0 += BLOCK) {
    const end = min(rows, r0 + BLOCK)
    for (let c = from; c < to; c += 4) {
      const mean = v128.load(at(means, c))
      let sum = f32x4.splat(0)
      for (let r = r0; r < end; r++) {
        const i = r * width + c
        sum = fma(v128.load(at(dy, i)), f32x4.sub(v128.load(at(x, i)), mean), sum)
      }
      gather(c, sum)
    }
  }
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
  sumColumns(from, to, rows, width, x)
  for (let c = from; c < to; c += 4) put(at(means, c), gathered(c, share), to - c)
  sumSquares(from, to, rows, width, x, means)
  for (let c = from; c < to; c += 4) {
    const root = f32x4.sqrt(f32x4.add(gathered(c, share), f32x4.splat(epsilon)))
    put(at(inverses, c), f32x4.div(f32x4.splat(1), root), to - c)
    put(at(variances, c), gathered(c, <f64>1 / <f64>max(1, rows - 1)), to - c)
  }
  for (let r = 0; r < rows; r++) {
    for (let c = from; c < to; c += 4) {
      const centred = f32x4.sub(v128.load(at(x, r * width + c)), v128.load(at(means, c)))
      const factor = f32x4.mul(v128.load(at(scale, c)), v128.load(at(inverses, c)))
      put(at(y, r * width + c), fma(centred, factor, v128.load(at(shift, c))), to - c)
    }
  }
}

/** `spare`: 3·C floats for scale·inverse, the slope by x and the mean of dy of each channel. No dx where its address is 0. */
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
  spare: usize,
): void {
  const share = <f64>1 / <f64>rows
  const slopes = at(spare, width)
  const middles = at(spare, 2 * width)
  sumColumns(from, to, rows, width, dy)
  for (let c = from; c < to; c += 4) {
    put(at(dShift, c), f32x4.add(v128.load(at(dShift, c)), gathered(c, 1)), to - c)
    put(at(middles, c), gathered(c, share), to - c)
  }
  sumAlong(from, to, rows, width, x, means, dy)
  for (let c = from; c < to; c += 4) {
    const inverse = v128.load(at(inverses, c))
    const own = f32x4.mul(gathered(c, 1), inverse)
    put(at(dScale, c), f32x4.add(v128.load(at(dScale, c)), own), to - c)
    put(at(spare, c), f32x4.mul(v128.load(at(scale, c)), inverse), to - c)
    put(at(slopes, c), f32x4.mul(f32x4.mul(gathered(c, share), inverse), inverse), to - c)
  }
  if (!dx) return
  for (let r = 0; r < rows; r++) {
    for (let c = from; c < to; c += 4) {
      const i = r * width + c
      const centred = f32x4.sub(v128.load(at(x, i)), v128.load(at(means, c)))
      const moved = f32x4.sub(v128.load(at(dy, i)), v128.load(at(middles, c)))
      const d = f32x4.sub(moved, f32x4.mul(centred, v128.load(at(slopes, c))))
      put(at(dx, i), f32x4.mul(d, v128.load(at(spare, c))), to - c)
    }
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
