/**
 * y[n, u, v, c] = mean over the window of x[n, u·step − top + i, v·step − left + j, c], places beyond the edge left
 * out. Samples [from, to). H × W pixels in, U × V out, C channels; `back` 1: dx from dy, the same weights the other way.
 */
import { at, fma, put } from './vector'

export function averagePool(
  from: i32,
  to: i32,
  back: i32,
  x: usize,
  y: usize,
  height: i32,
  width: i32,
  depth: i32,
  rows: i32,
  columns: i32,
  high: i32,
  wide: i32,
  step: i32,
  top: i32,
  left: i32,
): void {
  const pixels = height * width * depth
  if (back) memory.fill(at(x, from * pixels), 0, (<usize>((to - from) * pixels)) << 2)
  for (let n = from; n < to; n++) {
    const image = at(x, n * pixels)
    for (let u = 0; u < rows; u++) {
      const i0 = max(0, u * step - top)
      const i1 = min(height, u * step - top + high)
      for (let v = 0; v < columns; v++) {
        const j0 = max(0, v * step - left)
        const j1 = min(width, v * step - left + wide)
        const out = at(y, ((n * rows + u) * columns + v) * depth)
        const share = <f32>1 / <f32>((i1 - i0) * (j1 - j0))
        if (!back) memory.fill(out, 0, (<usize>depth) << 2)
        for (let i = i0; i < i1; i++) {
          for (let j = j0; j < j1; j++) {
            const pixel = at(image, (i * width + j) * depth)
            if (back) addShare(out, share, depth, pixel)
            else addShare(pixel, share, depth, out)
          }
        }
      }
    }
  }
}

/** to[c] += from[c] · share */
function addShare(from: usize, share: f32, depth: i32, to: usize): void {
  for (let c = 0; c < depth; c += 4)
    put(at(to, c), fma(v128.load(at(from, c)), f32x4.splat(share), v128.load(at(to, c))), depth - c)
}
