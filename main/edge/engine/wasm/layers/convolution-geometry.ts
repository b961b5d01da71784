/** Which pixels a convolution and its gradient see, as numbers for the kernels (`kernels/convolution-plan.ts`). */

/** Extents of a convolution; depth is C/G, top and left are the padding. */
export interface Geometry {
  readonly height: number
  readonly width: number
  readonly channels: number
  readonly rows: number
  readonly columns: number
  readonly filters: number
  readonly kernel: number
  readonly stride: number
  readonly groups: number
  readonly depth: number
  readonly top: number
  readonly left: number
}

/** As many zeros as the tile reads at once: `DEPTH` of the kernels. */
export const zeroFloats = 256

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Output (u, v) sees pixel (u·stride + i − top, v·stride + j − left) at tap (i, j). */
export function forwardPlan(of: Geometry, zeros: number): readonly number[] {
  const { kernel, depth, filters } = of
  const taps = range(kernel * kernel).flatMap((tap) => {
    const [i, j] = [Math.floor(tap / kernel), tap % kernel]
    return [i - of.top, j - of.left, tap * depth * filters]
  })
  const grid = [of.rows, of.columns, of.stride]
  const source = [of.height, of.width, of.channels, depth]
  return [...grid, ...source, filters / of.groups, filters, filters, 1, zeros, taps.length / 3, ...taps]
}

/** Pixels of the input of one residue class, and the plan of their gradient. */
interface InputClass {
  /** Their grid, from pixel (top, left) in steps of the stride. */
  readonly rows: number
  readonly columns: number
  readonly top: number
  readonly left: number
  readonly taps: number
  readonly numbers: readonly number[]
}

/**
 * The gradient by the input: pixel y was seen by output (y + top − i) / stride at tap i where that is whole. Pixels
 * of one residue by the stride are seen by the same taps, so each class is a convolution with step 1 of its own.
 */
export function inputPlans(of: Geometry, zeros: number): readonly InputClass[] {
  const starts = (extent: number) => range(Math.min(of.stride, extent))
  return starts(of.height).flatMap((top) =>
    starts(of.width).map((left) => {
      const down = tapsOf(top + of.top, of)
      const right = tapsOf(left + of.left, of)
      const taps = down.flatMap(({ tap: i, shift: y }) =>
        right.map(({ tap: j, shift: x }) => [y, x, (i * of.kernel + j) * of.depth * of.filters]),
      )
      const rows = Math.ceil((of.height - top) / of.stride)
      const columns = Math.ceil((of.width - left) / of.stride)
      const source = [of.rows, of.columns, of.filters, of.filters / of.groups]
      const numbers = [rows, columns, 1, ...source, of.depth, of.channels, 1, of.filters, zeros, taps.length, ...taps.flat()] // prettier-ignore
      return { rows, columns, top, left, taps: taps.length, numbers }
    }),
  )
}

/** Taps whose output is whole at a place, and how far that output lies from the class's own index. */
function tapsOf(place: number, { kernel, stride }: Geometry) {
  return range(kernel)
    .filter((tap) => (((place - tap) % stride) + stride) % stride === 0)
    .map((tap) => ({ tap, shift: (place - tap) / stride }))
}
