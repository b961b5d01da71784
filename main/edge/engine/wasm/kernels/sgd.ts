/**
 * s = g·scale + decay·w; v ← momentum·v + s; w' = w − rate·v, with Nesterov w − rate·(s + momentum·v).
 * Without momentum v is 0 and w' = w − rate·s. Elements [from, to); w' may be w.
 * @see https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
 */
import { at, fma, put } from './vector'

export function sgd(
  from: i32,
  to: i32,
  w: usize,
  next: usize,
  g: usize,
  v: usize,
  scale: f32,
  rate: f32,
  momentum: f32,
  decay: f32,
  nesterov: i32,
): void {
  const mu = f32x4.splat(momentum)
  for (let i = from; i < to; i += 4) {
    const weight = v128.load(at(w, i))
    const slope = fma(weight, f32x4.splat(decay), f32x4.mul(v128.load(at(g, i)), f32x4.splat(scale)))
    let way = slope
    if (v) {
      const velocity = fma(v128.load(at(v, i)), mu, slope)
      put(at(v, i), velocity, to - i)
      way = nesterov ? fma(velocity, mu, slope) : velocity
    }
    put(at(next, i), fma(way, f32x4.splat(-rate), weight), to - i)
  }
}

/** out = w − reach·v: weights as far ahead as the velocity carries them. */
export function sgdAhead(from: i32, to: i32, w: usize, v: usize, reach: f32, out: usize): void {
  for (let i = from; i < to; i += 4)
    put(at(out, i), fma(v128.load(at(v, i)), f32x4.splat(-reach), v128.load(at(w, i))), to - i)
}
