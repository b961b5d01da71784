/**
 * P = softmax(Q·Kᵀ/√E), causal or full; out = P·V. One head of one sample at a time, (sample, head) in [from, to).
 *
 * T tokens, H heads, E = D/H. Heads are strided views of qkv [B·T, 3D] and of out [B·T, D]: nothing is transposed or
 * copied. P [B·H, T, T] is kept for the way back: dV = Pᵀ·dOut, dP = dOut·Vᵀ, dS = softmax's gradient, dQ = dS·K,
 * dK = dSᵀ·Q.
 *
 * A causal square is walked in strips of some tokens: a strip of seen tokens meets only those at and after its first,
 * so that what the mask hides is computed within the strips on the diagonal alone. Rows are zero from the mask on.
 */
import { multiply } from './multiply'
import { multiplyTransposed } from './multiply-transposed'
import { threadNumber } from './scratch'
import { softmaxRow, softmaxRowBack } from './softmax'
import { at } from './vector'

/** Tokens of a strip: whole panels of either tile. */
const STRIP: i32 = 32

/** square[t, s] = a[t]·b[s] where t may see s. */
function crossTokens(
  tokens: i32,
  head: i32,
  causal: i32,
  a: usize,
  lda: i32,
  b: usize,
  ldb: i32,
  square: usize,
): void {
  const strip = causal ? STRIP : tokens
  for (let s = 0; s < tokens; s += strip) {
    const wide = min(strip, tokens - s)
    multiply(s, tokens, head, wide, a, lda, at(b, s * ldb), 1, ldb, at(square, s), tokens, 0, 0)
  }
}

/** c[t] = Σ_s square[t, s]·b[s] over the tokens that t sees. */
function gatherSeen(
  tokens: i32,
  head: i32,
  causal: i32,
  square: usize,
  b: usize,
  ldb: i32,
  c: usize,
  ldc: i32,
): void {
  const strip = causal ? STRIP : tokens
  for (let s = 0; s < tokens; s += strip) {
    const deep = min(strip, tokens - s)
    multiply(s, tokens, deep, head, at(square, s), tokens, at(b, s * ldb), ldb, 1, c, ldc, s ? c : 0, ldc)
  }
}

/** c[s] = Σ_t square[t, s]·b[t] over the tokens that see s. */
function gatherSeers(
  tokens: i32,
  head: i32,
  causal: i32,
  square: usize,
  b: usize,
  ldb: i32,
  c: usize,
  ldc: i32,
): void {
  const strip = causal ? STRIP : tokens
  for (let s = 0; s < tokens; s += strip) {
    const end = min(s + strip, tokens)
    const first = at(square, s * tokens)
    multiplyTransposed(s, end, tokens - s, head, first, tokens, at(b, s * ldb), ldb, c, ldc, 0)
  }
}

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
  const ld = 3 * width
  const scale = <f32>1 / sqrt<f32>(<f32>head)
  for (let unit = from; unit < to; unit++) {
    const b = unit / heads
    const h = unit - b * heads
    const q = at(qkv, b * tokens * ld + h * head)
    const scores = at(p, unit * tokens * tokens)
    crossTokens(tokens, head, causal, q, ld, at(q, width), ld, scores)
    for (let t = 0; t < tokens; t++)
      softmaxRow(at(scores, t * tokens), causal ? t + 1 : tokens, tokens, scale)
    const result = at(out, b * tokens * width + h * head)
    gatherSeen(tokens, head, causal, scores, at(q, 2 * width), ld, result, width)
  }
}

/** `spare`: T·T floats for the first thread; `others`: as many for each further one. */
export function attendBack(
  from: i32,
  to: i32,
  tokens: i32,
  heads: i32,
  head: i32,
  causal: i32,
  qkv: usize,
  p: usize,
  dOut: usize,
  dQkv: usize,
  spare: usize,
  others: usize,
): void {
  const width = heads * head
  const ld = 3 * width
  const thread = threadNumber()
  const ds = thread == 0 ? spare : at(others, (thread - 1) * tokens * tokens)
  const scale = <f32>1 / sqrt<f32>(<f32>head)
  for (let unit = from; unit < to; unit++) {
    const b = unit / heads
    const h = unit - b * heads
    const place = b * tokens * ld + h * head
    const q = at(qkv, place)
    const dq = at(dQkv, place)
    const weights = at(p, unit * tokens * tokens)
    const d = at(dOut, b * tokens * width + h * head)
    gatherSeers(tokens, head, causal, weights, d, width, at(dq, 2 * width), ld)
    crossTokens(tokens, head, causal, d, width, at(q, 2 * width), ld, ds)
    for (let t = 0; t < tokens; t++)
      softmaxRowBack(at(weights, t * tokens), at(ds, t * tokens), causal ? t + 1 : tokens, tokens, scale)
    gatherSeen(tokens, head, causal, ds, at(q, width), ld, dq, ld)
    gatherSeers(tokens, head, causal, ds, q, ld, at(dq, width), ld)
  }
}
