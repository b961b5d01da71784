/**
 * Writes the register tiles in AssemblyScript, which has no macros: MR × NR numbers of a product, all in registers.
 *
 * NR 16 is for V8 where it widens pairs of vectors to 256 bits: 12 wide accumulators of the 16 registers there are.
 * NR 8 is for everything else: 12 accumulators, two vectors of B and one of A fill the 15 that V8 can use.
 */
export type TileWidth = 8 | 16

const rows = 6
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The file `kernels/tile.ts` for one width. */
export function tileSource(width: TileWidth): string {
  return `// Written by build/tile.ts.
export const MR: i32 = ${rows}
export const NR: i32 = ${width}

/** C[m, n] = spare[m, n] + start[m, n] for a tile at the edge. */
function storePart(spare: usize, m: i32, n: i32, c: usize, step: usize, start: usize, startStep: usize): void {
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const at = <usize>j << 2
      const sum = load<f32>(spare + (<usize>(i * NR) << 2) + at)
      store<f32>(c + at, start ? sum + load<f32>(start + at) : sum)
    }
    c += step
    start += start ? startStep : 0
  }
}
${tileOfRows(width)}
${tileOfColumns(width)}`
}

/** C[m, n] = start[m, n] + Σ_tap Σ_k A_tap[m, k] · B[tap·depth + k, n]. The table holds MR row addresses a tap. */
function tileOfRows(width: TileWidth): string {
  const starts = grid.map((r) => `a${r} = load<usize>(table, ${4 * r})`).join(', ')
  return `
export function tileOfRows(
  taps: i32, table: usize, depth: i32, b: usize,
  m: i32, n: i32, c: usize, ldc: i32, start: usize, ldStart: i32, spare: usize,
): void {
  ${zeros(width)}
  for (; taps > 0; taps--) {
    let ${starts}
    table += ${4 * rows}
    for (let k = depth; k > 0; k--) {
      ${multiplyRows(width, (r) => `a${r}`)}
      ${grid.map((r) => `a${r} += 4`).join('; ')}
      b += ${4 * width}
    }
  }
  ${finish(width)}
}`
}

/** C[m, n] = start[m, n] + Σ_run Σ_p A_run[p, m] · B_run[p, n]. The table holds (A, B, length) a run. */
function tileOfColumns(width: TileWidth): string {
  return `
export function tileOfColumns(
  runs: i32, table: usize, aOffset: usize, bOffset: usize, aStep: usize, bStep: usize,
  m: i32, n: i32, c: usize, ldc: i32, start: usize, ldStart: i32, spare: usize,
): void {
  ${zeros(width)}
  for (; runs > 0; runs--) {
    let a = load<usize>(table) + aOffset, b = load<usize>(table, 4) + bOffset
    for (let p = load<i32>(table, 8); p > 0; p--) {
      ${multiplyRows(width, (r) => `a, ${4 * r}`)}
      a += aStep
      b += bStep
    }
    table += 12
  }
  ${finish(width)}
}`
}

const grid = numbers(rows)

/** The same for each vector of a row. */
const eachVector = (width: TileWidth, write: (vector: number) => string, between = '; ') =>
  numbers(width / 4)
    .map(write)
    .join(between)

const zeros = (width: TileWidth) =>
  `const zero = f32x4.splat(0)
  let ${grid.map((r) => eachVector(width, (v) => `c${r}_${v} = zero`, ', ')).join(',\n    ')}`

/** c[r] += A[r] · B for a row of B at b; `address` says where A[r] lies. */
function multiplyRows(width: TileWidth, address: (row: number) => string): string {
  const lines = grid.map((r) => {
    const sums = eachVector(width, (v) => `c${r}_${v} = f32x4.relaxed_madd(x, b${v}, c${r}_${v})`)
    return `x = v128.load32_splat(${address(r)}); ${sums}`
  })
  return `const ${eachVector(width, (v) => `b${v} = v128.load(b, ${16 * v})`, ', ')}
      let x: v128
      ${lines.join('\n      ')}`
}

/** Add the start and store; a tile at the edge goes over spare memory. */
function finish(width: TileWidth): string {
  const each = (write: (row: number, vector: number) => string, after = '') =>
    grid.map((r) => eachVector(width, (v) => write(r, v)) + after).join('\n    ')
  return `const step = <usize>ldc << 2, startStep = <usize>ldStart << 2
  if (m == MR && n == NR) {
    if (start) {
      let s = start
      ${each((r, v) => `c${r}_${v} = f32x4.add(c${r}_${v}, v128.load(s, ${16 * v}))`, '; s += startStep')}
    }
    ${each((r, v) => `v128.store(c, c${r}_${v}, ${16 * v})`, '; c += step')}
  } else {
    ${each((r, v) => `v128.store(spare, c${r}_${v}, ${4 * (r * width + 4 * v)})`)}
    storePart(spare, m, n, c, step, start, startStep)
  }`
}
