/** A product of known matrices: is it right, and how long does it take? */
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { Kernels } from './kernels.ts'
import type { Heap } from './memory/heap.ts'

const extent = 192
const repetitions = 20
/** A stored answer: small whole numbers, so that every order of adding gives the very same. */
const entryOfA = (row: number, column: number) => ((row * 7 + column * 3) % 11) - 5
const entryOfB = (row: number, column: number) => ((row * 5 + column) % 7) - 3

/** Whether A·B is what whole numbers say. Leaves A, B and C in the heap's uncounted blocks. */
export function productIsRight(kernels: Kernels, heap: Heap): boolean {
  const product = prepare(heap)
  product.run(kernels)
  const c = heap.floats(product.c, extent * extent)
  for (let row = 0; row < extent; row += 17)
    for (let column = 0; column < extent; column++) {
      let sum = 0
      for (let k = 0; k < extent; k++) sum += entryOfA(row, k) * entryOfB(k, column)
      if (c[row * extent + column] !== sum) return false
    }
  return true
}

/** The least milliseconds of some runs: what a machine can do, not what else it does. */
export function timeOfProduct(kernels: Kernels, heap: Heap): number {
  const product = prepare(heap)
  let least = Infinity
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const before = performance.now()
    product.run(kernels)
    least = Math.min(least, performance.now() - before)
  }
  return least
}

function prepare(heap: Heap) {
  const place = () => heap.allocateUncounted(extent * extent * bytesPerFloat).address
  const [a, b, c] = [place(), place(), place()]
  const fill = (address: number, entry: (row: number, column: number) => number) => {
    heap
      .floats(address, extent * extent)
      .set(
        Float32Array.from({ length: extent * extent }, (_, at) =>
          entry(Math.floor(at / extent), at % extent),
        ),
      )
  }
  fill(a, entryOfA)
  fill(b, entryOfB)
  return {
    c,
    run: (kernels: Kernels) =>
      kernels.multiply(0, extent, extent, extent, a, extent, b, extent, 1, c, extent, 0, 0),
  }
}
