/** Σ x², elements [from, to), in double precision: no gradient of finite floats overflows. */
import { at, take } from './vector'

export function squares(from: i32, to: i32, x: usize): f64 {
  let low = f64x2.splat(0)
  let high = f64x2.splat(0)
  for (let i = from; i < to; i += 4) {
    const v = take(at(x, i), to - i, 0)
    const a = f64x2.promote_low_f32x4(v)
    const b = f64x2.promote_low_f32x4(v128.shuffle<f64>(v, v, 1, 0))
    low = f64x2.add(low, f64x2.mul(a, a))
    high = f64x2.add(high, f64x2.mul(b, b))
  }
  const sum = f64x2.add(low, high)
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1)
}
