/** What every kernel uses: four floats at once. Addresses are bytes; lengths and strides are floats. */

/** Address of float i. */
export function at(base: usize, i: i32): usize {
  return base + ((<usize>i) << 2)
}

export function fma(a: v128, b: v128, c: v128): v128 {
  return f32x4.relaxed_madd(a, b, c)
}

/** The first `lanes` floats, then `fill`. */
export function take(p: usize, lanes: i32, fill: f32): v128 {
  if (lanes >= 4) return v128.load(p)
  let v = f32x4.splat(fill)
  v = f32x4.replace_lane(v, 0, load<f32>(p))
  if (lanes > 1) v = f32x4.replace_lane(v, 1, load<f32>(p, 4))
  if (lanes > 2) v = f32x4.replace_lane(v, 2, load<f32>(p, 8))
  return v
}

/** Store the first `lanes` floats. */
export function put(p: usize, v: v128, lanes: i32): void {
  if (lanes >= 4) {
    v128.store(p, v)
    return
  }
  store<f32>(p, f32x4.extract_lane(v, 0))
  if (lanes > 1) store<f32>(p, f32x4.extract_lane(v, 1), 4)
  if (lanes > 2) store<f32>(p, f32x4.extract_lane(v, 2), 8)
}

/** p[0..16) += four vectors. */
export function addFour(p: usize, a: v128, b: v128, c: v128, d: v128): void {
  v128.store(p, f32x4.add(v128.load(p), a))
  v128.store(p, f32x4.add(v128.load(p, 16), b), 16)
  v128.store(p, f32x4.add(v128.load(p, 32), c), 32)
  v128.store(p, f32x4.add(v128.load(p, 48), d), 48)
}

export function sumOf(v: v128): f32 {
  const low = f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1)
  return low + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
}

export function largestOf(v: v128): f32 {
  const low = max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1))
  return max(low, max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)))
}

/**
 * A number in every lane, from a table in memory. As a constant V8 would put it together anew at each use, from two
 * integers a vector, up to half of the time of a curve in the cache; a load is one operation, and it can be widened.
 */
const table: usize = memory.data<f32>([
  12582912, -87.3, 88.3, 1.44269504, -0.693359375, 2.1219444e-4, 1.98756915e-4, 1.3981999507e-3,
  8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1,
])

/**
 * e^x, about 1 ulp: Cephes' polynomial on the remainder of x / ln 2. Rounding and exponent by adding 1.5·2^23, so
 * that there are only operations that V8 can widen. Held within the range of normal floats; NaN stays NaN.
 */
export function exp(given: v128): v128 {
  const magic = v128.load32_splat(table, 0)
  let x = f32x4.pmin(f32x4.pmax(given, v128.load32_splat(table, 4)), v128.load32_splat(table, 8))
  const shifted = fma(x, v128.load32_splat(table, 12), magic)
  const n = f32x4.sub(shifted, magic)
  x = fma(n, v128.load32_splat(table, 16), x)
  x = fma(n, v128.load32_splat(table, 20), x)
  let p = v128.load32_splat(table, 24)
  p = fma(p, x, v128.load32_splat(table, 28))
  p = fma(p, x, v128.load32_splat(table, 32))
  p = fma(p, x, v128.load32_splat(table, 36))
  p = fma(p, x, v128.load32_splat(table, 40))
  p = fma(p, x, v128.load32_splat(table, 44))
  p = fma(p, f32x4.mul(x, x), f32x4.add(x, v128.load32_splat(table, 48)))
  return i32x4.add(p, i32x4.shl(shifted, 23))
}

/** 1 / (1 + e^-x) */
export function sigmoid(x: v128): v128 {
  return f32x4.div(f32x4.splat(1), f32x4.add(f32x4.splat(1), exp(f32x4.neg(x))))
}
