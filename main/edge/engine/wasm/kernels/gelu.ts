/**
 * y = x·s with s = σ(x·(linear + cubic·x²)), the tanh form of GELU since 0.5·(1 + tanh u) = σ(2u).
 * dx = dy·(s + x·s·(1 − s)·(linear + 3·cubic·x²)). Elements [from, to), a multiple of 8 from a multiple of 8 but at
 * the end; two vectors a turn, which V8 may widen to one.
 */
import { at, exp, fma, put } from './vector'

/** 2·√(2/π), and that times 0.044715. */
const linear: f32 = 1.5957691216057308
const cubic: f32 = 0.07135481282553506
const table: usize = memory.data<f32>([linear, cubic, 3 * cubic, 1])

/** 1 − s = 1/(1 + e^u) */
function rest(x: v128, square: v128): v128 {
  const u = f32x4.mul(x, fma(v128.load32_splat(table, 4), square, v128.load32_splat(table, 0)))
  return f32x4.div(v128.load32_splat(table, 12), f32x4.add(v128.load32_splat(table, 12), exp(u)))
}

function forth(x: v128): v128 {
  const r = rest(x, f32x4.mul(x, x))
  return f32x4.sub(x, f32x4.mul(x, r))
}

function back(x: v128, dy: v128): v128 {
  const square = f32x4.mul(x, x)
  const r = rest(x, square)
  const s = f32x4.sub(v128.load32_splat(table, 12), r)
  const slope = fma(v128.load32_splat(table, 8), square, v128.load32_splat(table, 0))
  return f32x4.mul(dy, fma(f32x4.mul(f32x4.mul(x, s), r), slope, s))
}

export function gelu(from: i32, to: i32, x: usize, y: usize): void {
  let i = from
  for (; i + 8 <= to; i += 8) {
    const first = forth(v128.load(at(x, i)))
    const second = forth(v128.load(at(x, i), 16))
    v128.store(at(y, i), first)
    v128.store(at(y, i), second, 16)
  }
  for (; i < to; i += 4) put(at(y, i), forth(v128.load(at(x, i))), to - i)
}

export function geluBack(from: i32, to: i32, x: usize, dy: usize, dx: usize): void {
  let i = from
  for (; i + 8 <= to; i += 8) {
    const first = back(v128.load(at(x, i)), v128.load(at(dy, i)))
    const second = back(v128.load(at(x, i), 16), v128.load(at(dy, i), 16))
    v128.store(at(dx, i), first)
    v128.store(at(dx, i), second, 16)
  }
  for (; i < to; i += 4) put(at(dx, i), back(v128.load(at(x, i)), v128.load(at(dy, i))), to - i)
}
