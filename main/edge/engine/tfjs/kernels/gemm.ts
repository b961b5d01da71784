/** Matrix products on the heap of the wasm backend, blocked so that the packed parts stay in the processor's caches. */
import { type GemmCode, instantiateGemm, tileColumns, tileRows } from './gemm-code.ts'
import type { Heap } from './heap.ts'

/** A matrix on the heap. Address and strides in bytes. */
interface Matrix {
  readonly address: number
  readonly rowStride: number
  readonly columnStride: number
}

/** C[m, n] = A[m, k] · B[k, n], or C += with `accumulate`. C's columns are adjacent. */
interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly a: Matrix
  readonly b: Matrix
  readonly c: { readonly address: number; readonly rowStride: number }
  readonly accumulate: boolean
}

/** Block extents in elements: a block of A (96 × 256) fits the first-level cache's neighbour, one of B (256 × 1024) the second. */
const block = { m: 96, n: 1024, k: 256 }
const tileBytes = 4 * tileRows * tileColumns
const packedABytes = 4 * block.m * block.k
const packedBBytes = 4 * block.n * block.k

/** What `multiply` wants of scratch memory; the rest of a larger scratch is the caller's. */
export const gemmScratchBytes = tileBytes + packedABytes + packedBBytes

/** Multiplies; sums run over k in a fixed order, so equal inputs give equal bits. */
export type Multiply = (product: Product, scratch: number) => void

/** The product for matrices on this heap. */
export function createMultiply(heap: Heap): Multiply {
  const code = instantiateGemm(heap.memory)
  return (product, scratch) => {
    for (let n0 = 0; n0 < product.n; n0 += block.n)
      for (let k0 = 0; k0 < product.k; k0 += block.k) multiplyPanel(code, product, { n0, k0, scratch })
  }
}

/** All rows of C from k and columns of one block of B. */
function multiplyPanel(
  code: GemmCode,
  { m, n, k, a, b, c, accumulate }: Product,
  { n0, k0, scratch }: { n0: number; k0: number; scratch: number },
): void {
  const packedA = scratch + tileBytes
  const packedB = packedA + packedABytes
  const columns = Math.min(block.n, n - n0)
  const depth = Math.min(block.k, k - k0)
  const fromB = b.address + k0 * b.rowStride + n0 * b.columnStride
  code.pack8(fromB, b.columnStride, b.rowStride, columns, depth, packedB)
  const adds = accumulate || k0 > 0 ? 1 : 0
  for (let m0 = 0; m0 < m; m0 += block.m) {
    const rows = Math.min(block.m, m - m0)
    const fromA = a.address + m0 * a.rowStride + k0 * a.columnStride
    code.pack6(fromA, a.rowStride, a.columnStride, rows, depth, packedA)
    const toC = c.address + m0 * c.rowStride + 4 * n0
    code.tiles(rows, columns, depth, packedA, packedB, toC, c.rowStride, adds, scratch)
  }
}
