/** Memory of one thread for packed panels, tables of addresses and tiles at edges. Each thread's instance has its own. */
import { MR, NR } from './tile'

/** Rows of B that are packed at a time: a panel of them stays in the first-level cache. */
export const DEPTH: i32 = 256
/** Rows of A between two panels: they stay in the second-level cache. A multiple of MR. */
export const ROWS: i32 = 96
/** Columns of B that are packed at a time. */
export const COLUMNS: i32 = 2048
/** Runs of a table that a weight gradient walks at a time. */
export const RUNS: i32 = 1024

const spareBytes: i32 = MR * 16 * 4
const tableBytes: i32 = max(ROWS * DEPTH * 4, RUNS * 12)
const stripBytes: i32 = ROWS * DEPTH * 4

let base: usize = 0
let number: i32 = 0

/** Bytes that a thread needs. */
export function scratchBytes(): i32 {
  return spareBytes + tableBytes + stripBytes + DEPTH * (COLUMNS + NR) * 4
}

/** @param thread - number of this thread, from 0 */
export function useScratch(address: usize, thread: i32): void {
  base = address
  number = thread
}

export function threadNumber(): i32 {
  return number
}

export function spareTile(): usize {
  return base
}

/** Addresses of rows: MR a tap and tile. */
export function addressTable(): usize {
  return base + spareBytes
}

/** A block of A as strips of MR columns. */
export function packedStrips(): usize {
  return base + spareBytes + tableBytes
}

export function packedPanels(): usize {
  return base + spareBytes + tableBytes + stripBytes
}
