/**
 * Rows x [R, D]: ẑ = (x − mean)·inverse, inverse = 1/√(variance + ε), y = ẑ·scale + shift. Rows [from, to).
 * With g = dy·scale: dx = (g − mean(g) − ẑ·mean(g·ẑ))·inverse; dScale = Σ dy·ẑ and dShift = Σ dy over rows.
 */
import { addFour, at, fma, put, sumOf, take } from './vector'

export function layerNorm(
  from: i32,
  to: i32,
  width: i32,
  epsilon: f32,
  x: usize,
  scale: usize,
  shift: usize,
  y: usize,
  means: usize,
  inverses: usize,
): void {
  for (let r = from; r < to; r++) {
    const row = at(x, r * width)
    let sum = f32x4.splat(0)
    for (let i = 0; i < width; i += 4) sum = f32x4.add(sum, take(at(row, i), width - i, 0))
    const mean = sumOf(sum) / <f32>width
    const centre = f32x4.splat(mean)
    let squares = f32x4.splat(0)
    for (let i = 0; i < width; i += 4) {
      const d = f32x4.sub(take(at(row, i), width - i, mean), centre)
      squares = fma(d, d, squares)
    }
    const inverse = <f32>1 / sqrt<f32>(sumOf(squares) / <f32>width + epsilon)
    store<f32>(at(means, r), mean)
    store<f32>(at(inverses, r), inverse)
    const factor = f32x4.splat(inverse)
    for (let i = 0; i < width; i += 4) {
      const z = f32x4.mul(f32x4.sub(v128.load(at(row, i)), centre), factor)
      put(at(y, r * width + i), fma(z, v128.load(at(scale, i)), v128.load(at(shift, i))), width - i)
    }
  }
}

export function layerNormBack(
  from: i32,
  to: i32,
  width: i32,
  x: usize,
  scale: usize,
  means: usize,
  inverses: usize,
  dy: usize,
  dx: usize,
): void {
  const share = <f32>1 / <f32>width
  for (let r = from; r < to; r++) {
    const row = r * width
    const mean = f32x4.splat(load<f32>(at(means, r)))
    const inverse = f32x4.splat(load<f32>(at(inverses, r)))
    let sum = f32x4.splat(0)
    let along = f32x4.splat(0)
    for (let i = 0; i < width; i += 4) {
      const lanes = width - i
      const g = f32x4.mul(take(at(dy, row + i), lanes, 0), take(at(scale, i), lanes, 0))
      const z = f32x4.mul(f32x4.sub(take(at(x, row + i), lanes, 0), mean), inverse)
      sum = f32x4.add(sum, g)
      along = fma(g, z, along)
    }
    const mid = f32x4.splat(sumOf(sum) * share)
    const slope = f32x4.splat(sumOf(along) * share)
    for (let i = 0; i < width; i += 4) {
      const g = f32x4.mul(v128.load(at(dy, row + i)), v128.load(at(scale, i)))
      const z = f32x4.mul(f32x4.sub(v128.load(at(x, row + i)), mean), inverse)
      const d = f32x4.sub(f32x4.sub(g, mid), f32x4.mul(z, slope))
      put(at(dx, row + i), f32x4.mul(d, inverse), width - i)
    }
  }
}

/** dScale[d] += Σ dy·ẑ, dShift[d] += Σ dy over all rows, columns [from, to). */
export function layerNormParameters(
  from: i32,
  to: i32,
  rows: i32,
  width: i32,
  x: usize,
  means: usize,
  inverses: usize,
  dy: usize,
  dScale: usize,
  dShift: usize,
): void {
  for (let r0 = 0; r0 < rows; r0 += 64) {
    const end = min(rows, r0 + 64)
    let i = from
    for (; i + 16 <= to; i += 16) {
      const place = r0 * width + i
      addLine(
        end - r0,
        width,
        at(x, place),
        at(means, r0),
        at(inverses, r0),
        at(dy, place),
        at(dScale, i),
        at(dShift, i),
      )
    }
    for (; i < to; i += 4) {
      let along = f32x4.splat(0)
      let sum = f32x4.splat(0)
      for (let r = r0; r < end; r++) {
        const d = v128.load(at(dy, r * width + i))
        const centred = f32x4.sub(v128.load(at(x, r * width + i)), f32x4.splat(load<f32>(at(means, r))))
        along = fma(d, f32x4.mul(centred, f32x4.splat(load<f32>(at(inverses, r)))), along)
        sum = f32x4.add(sum, d)
      }
      put(at(dScale, i), f32x4.add(v128.load(at(dScale, i)), along), to - i)
      put(at(dShift, i), f32x4.add(v128.load(at(dShift, i)), sum), to - i)
    }
  }
}

/** A cache line of columns at once: where rows lie a power of two apart, a line would have to come four times. */
function addLine(
  rows: i32,
  width: i32,
  x: usize,
  means: usize,
  inverses: usize,
  dy: usize,
  dScale: usize,
  dShift: usize,
): void {
  const step = (<usize>width) << 2
  const zero = f32x4.splat(0)
  let a0 = zero,
    a1 = zero,
    a2 = zero,
    a3 = zero
  let s0 = zero,
    s1 = zero,
    s2 = zero,
    s3 = zero
  for (let r = 0; r < rows; r++) {
    const mean = v128.load32_splat(at(means, r))
    const inverse = v128.load32_splat(at(inverses, r))
    const d0 = v128.load(dy)
    const d1 = v128.load(dy, 16)
    const d2 = v128.load(dy, 32)
    const d3 = v128.load(dy, 48)
    a0 = fma(d0, f32x4.mul(f32x4.sub(v128.load(x), mean), inverse), a0)
    a1 = fma(d1, f32x4.mul(f32x4.sub(v128.load(x, 16), mean), inverse), a1)
    a2 = fma(d2, f32x4.mul(f32x4.sub(v128.load(x, 32), mean), inverse), a2)
    a3 = fma(d3, f32x4.mul(f32x4.sub(v128.load(x, 48), mean), inverse), a3)
    s0 = f32x4.add(s0, d0)
    s1 = f32x4.add(s1, d1)
    s2 = f32x4.add(s2, d2)
    s3 = f32x4.add(s3, d3)
    x += step
    dy += step
  }
  addFour(dScale, a0, a1, a2, a3)
  addFour(dShift, s0, s1, s2, s3)
}
