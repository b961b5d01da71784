/**
 * s = g·scale + coupled·w; m ← β1·m + (1−β1)·s; v ← β2·v + (1−β2)·s²;
 * direction = (m/c1) / (√v/c2 + ε) with c1 = 1 − β1^t, c2 = √(1 − β2^t). Elements [from, to), a multiple of 8 from a
 * multiple of 8 but at the end; two vectors a turn, which V8 may widen to one.
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
  const gain = f32x4.splat(scale)
  const pull = f32x4.splat(coupled)
  const keep1 = f32x4.splat(beta1)
  const keep2 = f32x4.splat(beta2)
  const new1 = f32x4.splat(fresh1)
  const new2 = f32x4.splat(fresh2)
  let i = from
  for (; i + 8 <= to; i += 8) {
    const s0 = fma(v128.load(at(w, i)), pull, f32x4.mul(v128.load(at(g, i)), gain))
    const s1 = fma(v128.load(at(w, i), 16), pull, f32x4.mul(v128.load(at(g, i), 16), gain))
    const m0 = fma(v128.load(at(m, i)), keep1, f32x4.mul(s0, new1))
    const m1 = fma(v128.load(at(m, i), 16), keep1, f32x4.mul(s1, new1))
    v128.store(at(m, i), m0)
    v128.store(at(m, i), m1, 16)
    const v0 = fma(v128.load(at(v, i)), keep2, f32x4.mul(f32x4.mul(s0, s0), new2))
    const v1 = fma(v128.load(at(v, i), 16), keep2, f32x4.mul(f32x4.mul(s1, s1), new2))
    v128.store(at(v, i), v0)
    v128.store(at(v, i), v1, 16)
  }
  for (; i < to; i += 4) {
    const s = fma(v128.load(at(w, i)), pull, f32x4.mul(v128.load(at(g, i)), gain))
    put(at(m, i), fma(v128.load(at(m, i)), keep1, f32x4.mul(s, new1)), to - i)
    put(at(v, i), fma(v128.load(at(v, i)), keep2, f32x4.mul(f32x4.mul(s, s), new2)), to - i)
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
  const first = f32x4.splat(c1)
  const second = f32x4.splat(c2)
  const least = f32x4.splat(epsilon)
  const kept = f32x4.splat(keep)
  const far = f32x4.splat(reach)
  let i = from
  for (; i + 8 <= to; i += 8) {
    const r0 = f32x4.add(f32x4.div(f32x4.sqrt(v128.load(at(v, i))), second), least)
    const r1 = f32x4.add(f32x4.div(f32x4.sqrt(v128.load(at(v, i), 16)), second), least)
    const d0 = f32x4.div(f32x4.div(v128.load(at(m, i)), first), r0)
    const d1 = f32x4.div(f32x4.div(v128.load(at(m, i), 16), first), r1)
    const w0 = fma(d0, far, f32x4.mul(v128.load(at(w, i)), kept))
    const w1 = fma(d1, far, f32x4.mul(v128.load(at(w, i), 16), kept))
    v128.store(at(out, i), w0)
    v128.store(at(out, i), w1, 16)
  }
  for (; i < to; i += 4) {
    const root = f32x4.add(f32x4.div(f32x4.sqrt(v128.load(at(v, i))), second), least)
    const direction = f32x4.div(f32x4.div(v128.load(at(m, i)), first), root)
    put(at(out, i), fma(direction, far, f32x4.mul(v128.load(at(w, i)), kept)), to - i)
  }
}
