/**
 * The matrix product as WebAssembly SIMD: packed panels and a register tile of 6 rows × 8 columns.
 *
 * 12 accumulators, 2 vectors of B and 1 of A are just what 16 registers hold; larger tiles spill and halve the speed.
 * @see Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication"
 */
import {
  type Code,
  type Local,
  type WasmFunction,
  add,
  add4,
  addFloats,
  advance,
  assemble,
  both,
  bytes,
  call,
  choose,
  countTo,
  defineFunction,
  equal,
  fuse4,
  get,
  less,
  load4,
  loadFloat,
  loadSplat,
  multiply,
  multiply4,
  number,
  set,
  store4,
  storeFloat,
  subtract,
  when,
  whileTrue,
  zero4,
} from './assembler.ts'

/** Rows and columns of the register tile. */
export const tileRows = 6
export const tileColumns = 8

/** What the module exports. Addresses and strides in bytes, counts in elements. */
export interface GemmCode {
  /** Panels of 6 rows of A: out[panel][l][row]; the last panel repeats its last row. */
  readonly pack6: Pack
  /** Panels of 8 columns of B: out[panel][l][column]; the last panel repeats its last column. */
  readonly pack8: Pack
  /** C[m, n] (+)= packed A · packed B. `spare` holds one tile. */
  readonly tiles: (...args: TilesArguments) => void
}
type Pack = (...args: PackArguments) => void
type PackArguments = [
  source: number,
  laneStride: number,
  depthStride: number,
  lanes: number,
  depth: number,
  out: number,
]
type TilesArguments = [
  m: number,
  n: number,
  k: number,
  packedA: number,
  packedB: number,
  c: number,
  rowStrideC: number,
  accumulate: number,
  spare: number,
]

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const smaller = (a: Code, b: Code) => choose(a, b, less(a, b))

/** Copies `lanes` strided lines, `width` at a time, so that the tile reads them one after another. */
function packer(name: string, width: number): WasmFunction {
  return defineFunction(name, { parameters: 6, integers: width + 3, vectors: 0 }, (locals) => {
    const [source, laneStride, depthStride, lanes, depth, out] = locals.parameters as Six<Local>
    const [first, left, step, ...pointers] = locals.integers as [Local, Local, Local, ...Local[]]
    const startPointers = pointers.map((pointer, lane) => {
      const inside = smaller(number(lane), subtract(get(left), number(1)))
      return set(pointer, add(get(source), multiply(get(laneStride), add(get(first), inside))))
    })
    const one = pointers.map((pointer, lane) => [
      storeFloat(get(out), loadFloat(get(pointer)), 4 * lane),
      advance(pointer, get(depthStride)),
    ])
    const [start] = pointers as [Local]
    const fours = [
      range(width / 4).map((part) => store4(get(out), load4(get(start), 16 * part), 16 * part)),
      advance(start, get(depthStride)),
    ]
    const inLine = (body: Code) => countTo(step, get(depth), [body, advance(out, number(4 * width))])
    const adjacent = both(equal(get(laneStride), number(4)), less(number(width - 1), get(left)))
    const panel = [
      set(left, subtract(get(lanes), get(first))),
      startPointers,
      width % 4 === 0 ? when(adjacent, inLine(fours), inLine(one)) : inLine(one),
    ]
    return countTo(first, get(lanes), panel, width)
  })
}
type Six<T> = [T, T, T, T, T, T]

/** One tile: C[rows ≤ 6, columns ≤ 8] (+)= panel of A · panel of B. */
function tile(fused: boolean): WasmFunction {
  return defineFunction('tile', { parameters: 9, integers: 3, vectors: 15 }, (locals) => {
    const [rows, columns, k, a, b, c, stride, accumulate, spare] = locals.parameters as Nine<Local>
    const [i, j, address] = locals.integers as [Local, Local, Local]
    const [left, right, broadcast, ...sums] = locals.vectors as [Local, Local, Local, ...Local[]]
    const sumAt = (row: number, half: number) => sums[2 * row + half] ?? left
    const into = (sum: Local, half: Local) =>
      set(
        sum,
        fused
          ? fuse4(get(broadcast), get(half), get(sum))
          : add4(multiply4(get(broadcast), get(half)), get(sum)),
      )
    const step = [
      set(left, load4(get(b))),
      set(right, load4(get(b), 16)),
      range(tileRows).map((row) => [
        set(broadcast, loadSplat(get(a), 4 * row)),
        into(sumAt(row, 0), left),
        into(sumAt(row, 1), right),
      ]),
      advance(a, number(4 * tileRows)),
      advance(b, number(4 * tileColumns)),
      set(k, subtract(get(k), number(1))),
    ]
    const eachRow = (write: (row: number) => Code) =>
      range(tileRows).map((row) => [write(row), row + 1 < tileRows ? advance(c, get(stride)) : []])
    const storeRow = (row: number) => [0, 1].map((half) => store4(get(c), get(sumAt(row, half)), 16 * half))
    const addRow = (row: number) =>
      [0, 1].map((half) => store4(get(c), add4(load4(get(c), 16 * half), get(sumAt(row, half))), 16 * half))
    const spill = sums.map((sum, part) => store4(get(spare), get(sum), 16 * part))
    const value = loadFloat(add(get(spare), bytes(get(j))))
    const edge = [
      spill,
      countTo(i, get(rows), [
        countTo(j, get(columns), [
          set(address, add(get(c), bytes(get(j)))),
          when(
            get(accumulate),
            storeFloat(get(address), addFloats(loadFloat(get(address)), value)),
            storeFloat(get(address), value),
          ),
        ]),
        advance(c, get(stride)),
        advance(spare, number(4 * tileColumns)),
      ]),
    ]
    const whole = both(equal(get(rows), number(tileRows)), equal(get(columns), number(tileColumns)))
    return [
      sums.map((sum) => set(sum, zero4)),
      whileTrue(get(k), step),
      when(whole, when(get(accumulate), eachRow(addRow), eachRow(storeRow)), edge),
    ]
  })
}
type Nine<T> = [T, T, T, T, T, T, T, T, T]

/** All tiles of a block; calls function 0, the tile. */
const tiles = defineFunction('tiles', { parameters: 9, integers: 3, vectors: 0 }, (locals) => {
  const [m, n, k, packedA, packedB, c, stride, accumulate, spare] = locals.parameters as Nine<Local>
  const [row, column, a] = locals.integers as [Local, Local, Local]
  return countTo(
    column,
    get(n),
    [
      set(a, get(packedA)),
      countTo(
        row,
        get(m),
        [
          call(
            0,
            smaller(number(tileRows), subtract(get(m), get(row))),
            smaller(number(tileColumns), subtract(get(n), get(column))),
            get(k),
            get(a),
            get(packedB),
            add(get(c), add(multiply(get(row), get(stride)), bytes(get(column)))),
            get(stride),
            get(accumulate),
            get(spare),
          ),
          advance(a, multiply(get(k), number(4 * tileRows))),
        ],
        tileRows,
      ),
      advance(packedB, multiply(get(k), number(4 * tileColumns))),
    ],
    tileColumns,
  )
})

const moduleOf = (fused: boolean) =>
  assemble([tile(fused), tiles, packer('pack6', tileRows), packer('pack8', tileColumns)])

/** Compiles the code onto a memory; with fused multiply-add where this V8 has relaxed SIMD. */
export function instantiateGemm(memory: WebAssembly.Memory): GemmCode {
  const relaxed = moduleOf(true)
  const binary = WebAssembly.validate(relaxed) ? relaxed : moduleOf(false)
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), { env: { memory } })
  return exports as unknown as GemmCode
}
