/** Samples made up from a seed, the same for everyone who asks. */
import type { BatchSource } from '../../main/core/ports.ts'
import { createRng, nextInt, nextNormal, seedFrom } from '../../shared/random.ts'
import type { BatchRef } from '../../shared/job/data.ts'

export interface FakeBatchesSettings {
  readonly seed: number
  /** Shape of one sample. */
  readonly shape: readonly number[]
  readonly classes: number
  /** Sees every micro-batch asked for. */
  readonly onAsked?: (asked: 'inputs' | 'labels', batch: BatchRef) => void
}

/** Normal values whose mean depends on a random class: something to learn. */
export function createFakeBatches({ seed, shape, classes, onAsked }: FakeBatchesSettings): BatchSource {
  const width = shape.reduce((product, extent) => product * extent, 1)
  const labelOf = (row: number) => nextInt(createRng(seedFrom(seed, 'label', row)), classes)
  const valuesOf = (row: number) => {
    const rng = createRng(seedFrom(seed, 'values', row))
    const label = labelOf(row)
    return Array.from({ length: width }, (_, index) => nextNormal(rng) + (index % classes === label ? 2 : 0))
  }
  return {
    inputs(batch) {
      onAsked?.('inputs', batch)
      const data = Float32Array.from([...batch.rows].flatMap(valuesOf))
      return Promise.resolve({ dtype: 'float32', shape: [batch.rows.length, ...shape], data })
    },
    labels(batch) {
      onAsked?.('labels', batch)
      const data = Int32Array.from(batch.rows, labelOf)
      return Promise.resolve({ dtype: 'int32', shape: [batch.rows.length], data })
    },
  }
}
