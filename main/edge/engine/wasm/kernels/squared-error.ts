/** (x − target)², its sum returned in double precision; dx = 2·(x − target)·share where its address is not 0. */
import { at } from './vector'

export function squaredError(from: i32, to: i32, x: usize, targets: usize, share: f32, dx: usize): f64 {
  let sum: f64 = 0
  for (let i = from; i < to; i++) {
    const error = load<f32>(at(x, i)) - load<f32>(at(targets, i))
    sum += <f64>error * <f64>error
    if (dx) store<f32>(at(dx, i), error * (2 * share))
  }
  return sum
}
