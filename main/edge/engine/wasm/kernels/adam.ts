/**
 * s = g·scale + coupled·w; m ← β1·m + (1−β1)·s; v ← β2·v + (1−β2)·s²;
 * direction = (m/c1) / (√v/c2 + ε) with c1 = 1 − β1^t, c2 = √(1 − β2^t). Elements [from, to).
 * @see https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html
 */
import { at, fma, put } from './vector'

export function adamMoments(
  from: i32,
  to: i32,
  w: usize,
  g: usize,
  m: usize,
  v: usize,
  scale: f32,
  coupled: f32,
  beta1: f32,
  fresh1: f32,
  beta2: f32,
  fresh2: f32,
): void {
  for (let i = from; i < to; i += 4) {
    const s = fma(
      v128.load(at(w, i)),
      f32x4.splat(coupled),
      f32x4.mul(v128.load(at(g, i)), f32x4.splat(scale)),
    )
    const first = fma(v128.load(at(m, i)), f32x4.splat(beta1), f32x4.mul(s, f32x4.splat(fresh1)))
    const square = f32x4.mul(f32x4.mul(s, s), f32x4.splat(fresh2))
    put(at(m, i), first, to - i)
    put(at(v, i), fma(v128.load(at(v, i)), f32x4.splat(beta2), square), to - i)
  }
}

/** out = keep·w + reach·direction; w may lie anywhere, in `out` as well. */
export function adamStep(
  from: i32,
  to: i32,
  w: usize,
  m: usize,
  v: usize,
  c1: f32,
  c2: f32,
  epsilon: f32,
  keep: f32,
  reach: f32,
  out: usize,
): void {
  for (let i = from; i < to; i += 4) {
    const root = f32x4.add(f32x4.div(f32x4.sqrt(v128.load(at(v, i))), f32x4.splat(c2)), f32x4.splat(epsilon))
    const direction = f32x4.div(f32x4.div(v128.load(at(m, i)), f32x4.splat(c1)), root)
    const kept = f32x4.mul(v128.load(at(w, i)), f32x4.splat(keep))
    put(at(out, i), fma(direction, f32x4.splat(reach), kept), to - i)
  }
}
