/**
 * P = softmax(Q·Kᵀ/√E), causal or full; out = P·V. One head of one sample at a time, (sample, head) in [from, to).
 *
 * T tokens, H heads, E = D/H. Heads are strided views of qkv [B·T, 3D] and of out [B·T, D]: nothing is transposed or
 * copied. P [B·H, T, T] is kept for the way back: dV = Pᵀ·dOut, dP = dOut·Vᵀ, dS = softmax's gradient, dQ = dS·K,
 * dK = dSᵀ·Q.
 */
import { multiply } from './multiply'
import { multiplyTransposed } from './multiply-transposed'
import { threadNumber } from './scratch'
import { softmaxRow, softmaxRowBack } from './softmax'
import { at } from './vector'

export function attend(
  from: i32,
  to: i32,
  tokens: i32,
  heads: i32,
  head: i32,
  causal: i32,
  qkv: usize,
  p: usize,
  out: usize,
): void {
  const width = heads * head
  const scale = <f32>1 / sqrt<f32>(<f32>head)
  for (let unit = from; unit < to; unit++) {
    const b = unit / heads
    const h = unit - b * heads
    const q = at(qkv, b * tokens * 3 * width + h * head)
    const scores = at(p, unit * tokens * tokens)
    multiply(0, tokens, head, tokens, q, 3 * width, at(q, width), 1, 3 * width, scores, tokens, 0, 0)
    for (let t = 0; t < tokens; t++)
      softmaxRow(at(scores, t * tokens), causal ? t + 1 : tokens, tokens, scale)
    const result = at(out, b * tokens * width + h * head)
    multiply(0, tokens, tokens, head, scores, tokens, at(q, 2 * width), 3 * width, 1, result, width, 0, 0)
  }
}

/** `spare`: T·T floats for each thread. */
export function attendBack(
  from: i32,
  to: i32,
  tokens: i32,
  heads: i32,
  head: i32,
  qkv: usize,
  p: usize,
  dOut: usize,
  dQkv: usize,
  spare: usize,
): void {
  const width = heads * head
  const ld = 3 * width
  const ds = at(spare, threadNumber() * tokens * tokens)
  const scale = <f32>1 / sqrt<f32>(<f32>head)
  for (let unit = from; unit < to; unit++) {
    const b = unit / heads
    const h = unit - b * heads
    const place = b * tokens * ld + h * head
    const q = at(qkv, place)
    const k = at(q, width)
    const v = at(q, 2 * width)
    const dq = at(dQkv, place)
    const dk = at(dq, width)
    const dv = at(dq, 2 * width)
    const weights = at(p, unit * tokens * tokens)
    const d = at(dOut, b * tokens * width + h * head)
    multiplyTransposed(0, tokens, tokens, head, weights, tokens, d, width, dv, ld, 0)
    multiply(0, tokens, head, tokens, d, width, v, 1, ld, ds, tokens, 0, 0)
    for (let t = 0; t < tokens; t++)
      softmaxRowBack(at(weights, t * tokens), at(ds, t * tokens), tokens, scale)
    multiply(0, tokens, tokens, head, ds, tokens, k, ld, 1, dq, ld, 0, 0)
    multiplyTransposed(0, tokens, tokens, head, ds, tokens, q, ld, dk, ld, 0)
  }
}
