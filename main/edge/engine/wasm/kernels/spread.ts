/**
 * image[n, top + u·step, left + v·step, :] = part[n, u, v, :], lines [from, to) of N·U; zeros where part is 0.
 * Puts the gradient of one residue class of pixels where it belongs, for a convolution with a stride.
 */
import { at } from './vector'

export function spread(
  from: i32,
  to: i32,
  part: usize,
  rows: i32,
  columns: i32,
  depth: i32,
  image: usize,
  height: i32,
  width: i32,
  step: i32,
  top: i32,
  left: i32,
): void {
  const bytes = (<usize>depth) << 2
  for (let line = from; line < to; line++) {
    const n = line / rows
    const y = top + (line - n * rows) * step
    for (let v = 0; v < columns; v++) {
      const pixel = at(image, ((n * height + y) * width + left + v * step) * depth)
      if (part) memory.copy(pixel, at(part, (line * columns + v) * depth), bytes)
      else memory.fill(pixel, 0, bytes)
    }
  }
}
