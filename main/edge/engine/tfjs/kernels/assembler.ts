/**
 * A small WebAssembly assembler: enough of the binary format to write the one kernel that JavaScript cannot (SIMD),
 * without a compiler or a binary in the repository. Code is nested arrays of bytes, flattened at the end.
 *
 * @see https://webassembly.github.io/spec/core/binary/ (numbers below are its opcodes)
 */

/** Instructions, or an expression that leaves one value on the stack. */
export type Code = readonly (number | Code)[]

/** A local variable of a function. */
export interface Local {
  readonly index: number
}

const i32Type = 0x7f
const v128Type = 0x7b
const emptyBlock = 0x40

/** Unsigned LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest]
    bytes.push((rest & 0x7f) | 0x80)
  }
}

/** Signed LEB128 of a 32-bit number. */
function signed(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value | 0; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) return [...bytes, rest & 0x7f]
    bytes.push((rest & 0x7f) | 0x80)
  }
}

const vector = (operation: number) => [0xfd, ...unsigned(operation)]
/** Alignment exponent and offset. All our addresses are multiples of 4. */
const memory = (offset: number) => [2, ...unsigned(offset)]

export const number = (value: number): Code => [0x41, ...signed(value)]
export const get = (local: Local): Code => [0x20, ...unsigned(local.index)]
export const set = (local: Local, value: Code): Code => [value, 0x21, ...unsigned(local.index)]
export const add = (a: Code, b: Code): Code => [a, b, 0x6a]
export const subtract = (a: Code, b: Code): Code => [a, b, 0x6b]
export const multiply = (a: Code, b: Code): Code => [a, b, 0x6c]
export const equal = (a: Code, b: Code): Code => [a, b, 0x46]
export const less = (a: Code, b: Code): Code => [a, b, 0x48]
export const both = (a: Code, b: Code): Code => [a, b, 0x71]
/** Elements to bytes. */
export const bytes = (elements: Code): Code => [elements, 0x41, 2, 0x74]
/** The first where the condition is not 0, else the second. Both are evaluated. */
export const choose = (first: Code, second: Code, condition: Code): Code => [first, second, condition, 0x1b]
export const when = (condition: Code, then: Code, otherwise: Code = []): Code => [
  condition,
  [0x04, emptyBlock],
  then,
  0x05,
  otherwise,
  0x0b,
]
export const whileTrue = (condition: Code, body: Code): Code => [
  [0x02, emptyBlock],
  [0x03, emptyBlock],
  [condition, 0x45, 0x0d, 1],
  body,
  [0x0c, 0],
  [0x0b, 0x0b],
]
/** Adds to a local in place. */
export const advance = (local: Local, by: Code): Code => set(local, add(get(local), by))
/** Counts a local from 0 in steps while it is below a limit. */
export const countTo = (local: Local, limit: Code, body: Code, step = 1): Code => [
  set(local, number(0)),
  whileTrue(less(get(local), limit), [body, advance(local, number(step))]),
]
export const call = (functionIndex: number, ...args: readonly Code[]): Code => [
  ...args,
  0x10,
  ...unsigned(functionIndex),
]

export const loadFloat = (address: Code, offset = 0): Code => [address, 0x2a, ...memory(offset)]
export const storeFloat = (address: Code, value: Code, offset = 0): Code => [
  address,
  value,
  0x38,
  ...memory(offset),
]
export const addFloats = (a: Code, b: Code): Code => [a, b, 0x92]
export const load4 = (address: Code, offset = 0): Code => [address, ...vector(0x00), ...memory(offset)]
/** One float in all four lanes. */
export const loadSplat = (address: Code, offset = 0): Code => [address, ...vector(0x09), ...memory(offset)]
export const store4 = (address: Code, value: Code, offset = 0): Code => [
  address,
  value,
  ...vector(0x0b),
  ...memory(offset),
]
export const zero4: Code = [...vector(0x0c), ...new Array<number>(16).fill(0)]
export const add4 = (a: Code, b: Code): Code => [a, b, ...vector(0xe4)]
export const multiply4 = (a: Code, b: Code): Code => [a, b, ...vector(0xe6)]
/** a·b + c, with one rounding where the processor has it (relaxed SIMD). */
export const fuse4 = (a: Code, b: Code, c: Code): Code => [a, b, c, ...vector(0x105)]

/** A function of i32 parameters without a result. */
export interface WasmFunction {
  readonly name: string
  readonly parameters: number
  readonly integers: number
  readonly vectors: number
  readonly body: Code
}

/** Takes locals of a function in the order that the binary format wants: parameters, integers, vectors. */
export function defineFunction(
  name: string,
  counts: { readonly parameters: number; readonly integers: number; readonly vectors: number },
  write: (locals: { parameters: Local[]; integers: Local[]; vectors: Local[] }) => Code,
): WasmFunction {
  const take = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ index: from + i }))
  const locals = {
    parameters: take(0, counts.parameters),
    integers: take(counts.parameters, counts.integers),
    vectors: take(counts.parameters + counts.integers, counts.vectors),
  }
  return { name, ...counts, body: write(locals) }
}

const flatten = (code: Code): number[] =>
  code.flatMap((part) => (typeof part === 'number' ? [part] : flatten(part)))
const sized = (content: readonly number[]) => [...unsigned(content.length), ...content]
const list = (items: readonly (readonly number[])[]) => [...unsigned(items.length), ...items.flat()]
const text = (value: string) => sized([...new TextEncoder().encode(value)])
const section = (id: number, content: readonly number[]) => [id, ...sized(content)]

/** The bytes of a module that imports `env.memory` and exports every function. */
export function assemble(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters }) => [
    0x60,
    ...list(new Array<number[]>(parameters).fill([i32Type])),
    0,
  ])
  const codes = functions.map(({ integers, vectors, body }) => {
    const locals = list([
      [...unsigned(integers), i32Type],
      [...unsigned(vectors), v128Type],
    ])
    return sized([...locals, ...flatten(body), 0x0b])
  })
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(2, list([[...text('env'), ...text('memory'), 2, 0, 0]])),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(7, list(functions.map(({ name }, index) => [...text(name), 0, ...unsigned(index)]))),
    ...section(10, list(codes)),
  ])
}
