/** Mean and deviation of the training inputs, and their use. */
import type { Normalization } from '../../../shared/job/data.ts'

/** Gathers mean and deviation over samples. */
export interface Moments {
  add(sample: Float32Array | Uint8Array): void
  result(): Normalization
}

/** Deviations below this share of the mean are rounding, not variance. */
const negligible = 1e-7

/**
 * Mean and deviation of what is added: one number over all elements, or one an element of the last axis.
 *
 * Sums are taken around the first value seen, so that a large mean does not drown a small variance. A position
 * that never changes is only shifted, not scaled.
 *
 * @param groups - extent of the last axis, or 1 for all elements together
 */
export function createMoments(groups: number): Moments {
  const origin = new Float64Array(groups)
  const sum = new Float64Array(groups)
  const sumOfSquares = new Float64Array(groups)
  let countEach = 0
  return {
    add(sample) {
      if (countEach === 0) for (let group = 0; group < groups; group++) origin[group] = sample[group] ?? 0
      for (let index = 0, group = 0; index < sample.length; index++) {
        const offset = (sample[index] ?? 0) - (origin[group] ?? 0)
        sum[group] = (sum[group] ?? 0) + offset
        sumOfSquares[group] = (sumOfSquares[group] ?? 0) + offset * offset
        group = group + 1 === groups ? 0 : group + 1
      }
      countEach += sample.length / groups
    },
    result() {
      const subtract: number[] = []
      const divide: number[] = []
      for (let group = 0; group < groups; group++) {
        const meanOffset = (sum[group] ?? 0) / countEach
        const variance = (sumOfSquares[group] ?? 0) / countEach - meanOffset * meanOffset
        const mean = (origin[group] ?? 0) + meanOffset
        const deviation = Math.sqrt(Math.max(0, variance))
        subtract.push(mean)
        divide.push(deviation > negligible * Math.abs(mean) ? deviation : 1)
      }
      return { subtract, divide }
    },
  }
}

/** (stored − subtract) / divide, element by element; as they are without a normalization. */
export function normalized(
  stored: Float32Array | Uint8Array,
  normalization: Normalization | undefined,
): Float32Array {
  if (normalization === undefined) return Float32Array.from(stored)
  const subtract = Float64Array.from(normalization.subtract)
  const divide = Float64Array.from(normalization.divide)
  const groups = subtract.length
  const values = new Float32Array(stored.length)
  for (let index = 0, group = 0; index < stored.length; index++) {
    values[index] = ((stored[index] ?? 0) - (subtract[group] ?? 0)) / (divide[group] ?? 1)
    group = group + 1 === groups ? 0 : group + 1
  }
  return values
}
