/**
 * y[n, u, v, c] = max over the window of x[n, u·step − top + i, v·step − left + j, c]; `chosen` is the pixel, the
 * first of equals. Samples [from, to). Places beyond the edge do not count. H × W pixels in, U × V out, C channels.
 */
import { at } from './vector'

export function maxPool(
  from: i32,
  to: i32,
  x: usize,
  y: usize,
  chosen: usize,
  height: i32,
  width: i32,
  depth: i32,
  rows: i32,
  columns: i32,
  size: i32,
  step: i32,
  top: i32,
  left: i32,
): void {
  for (let n = from; n < to; n++) {
    const image = at(x, n * height * width * depth)
    for (let u = 0; u < rows; u++) {
      for (let v = 0; v < columns; v++) {
        const out = ((n * rows + u) * columns + v) * depth
        let first = true
        for (let i = max(0, u * step - top); i < min(height, u * step - top + size); i++) {
          for (let j = max(0, v * step - left); j < min(width, v * step - left + size); j++) {
            choose(image, i * width + j, depth, at(y, out), at(chosen, out), first)
            first = false
          }
        }
      }
    }
  }
}

/** Take a pixel's channels where they are larger than what was taken. */
function choose(image: usize, pixel: i32, depth: i32, y: usize, chosen: usize, first: boolean): void {
  for (let c = 0; c < depth; c++) {
    const value = load<f32>(at(image, pixel * depth + c))
    if (!first && !(value > load<f32>(at(y, c)))) continue
    store<f32>(at(y, c), value)
    store<i32>(at(chosen, c), pixel)
  }
}

/** dx[chosen] += dy, zeros elsewhere. Samples [from, to); `outputs` is U·V. */
export function maxPoolBack(
  from: i32,
  to: i32,
  dy: usize,
  chosen: usize,
  dx: usize,
  pixels: i32,
  outputs: i32,
  depth: i32,
): void {
  memory.fill(at(dx, from * pixels * depth), 0, (<usize>((to - from) * pixels * depth)) << 2)
  for (let n = from; n < to; n++) {
    for (let i = n * outputs; i < (n + 1) * outputs; i++) {
      for (let c = 0; c < depth; c++) {
        const pixel = load<i32>(at(chosen, i * depth + c))
        const place = at(dx, (n * pixels + pixel) * depth + c)
        store<f32>(place, load<f32>(place) + load<f32>(at(dy, i * depth + c)))
      }
    }
  }
}
