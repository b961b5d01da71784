/**
 * The numbers of a run of layers as somebody holds them, and portions of shorter runs out of them: weights, then each
 * moment of the optimizer, all laid out as the numbers of the run.
 */
import { InvariantError } from '../../../../shared/errors.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { type LayerLayout, stateLayout } from '../../../../shared/model/layout.ts'
import type { StateVector } from '../../ports.ts'

export interface Held {
  readonly layers: LayerRange
  /** V vectors of one length. */
  readonly vectors: readonly Float32Array[]
}

/** Elements [from, to) of the numbers of a run, in each vector. */
export interface Portion {
  readonly layers: LayerRange
  readonly from: number
  readonly to: number
}

export const isWithin = ([from, to]: LayerRange, [least, most]: LayerRange): boolean =>
  from >= least && to <= most

export const isSameRun = (one: LayerRange, other: LayerRange): boolean =>
  one[0] === other[0] && one[1] === other[1]

/** What `readNumbers` gave, or what is to be filled. The vectors are views: what is written here is written there. */
export function heldOf({ layers, values }: StateVector, vectors: number): Held {
  const length = values.length / vectors
  return {
    layers,
    vectors: Array.from({ length: vectors }, (_, index) =>
      values.subarray(index * length, (index + 1) * length),
    ),
  }
}

/** How long each vector of a run is. In elements. */
export const lengthOf = (layouts: readonly LayerLayout[], layers: LayerRange): number =>
  stateLayout(layouts, layers).length

/** All of them. */
export const wholePortion = (layouts: readonly LayerLayout[], layers: LayerRange): Portion => ({
  layers,
  from: 0,
  to: lengthOf(layouts, layers),
})

interface Stretch {
  /** In the run. */
  readonly at: number
  /** In what holds it. */
  readonly heldAt: number
  readonly length: number
}

/** Where a portion lies: its trained numbers are in one place, its untrained ones in another. */
function stretchesOf(
  layouts: readonly LayerLayout[],
  within: LayerRange,
  { layers, from, to }: Portion,
): readonly Stretch[] {
  if (!isWithin(layers, within))
    throw new InvariantError(`layers ${layers.join('-')} are not within ${within.join('-')}`)
  const [whole, run] = [stateLayout(layouts, within), stateLayout(layouts, layers)]
  const before = stateLayout(layouts, [within[0], layers[0]])
  const untrainedAt = whole.trainedLength + before.length - before.trainedLength
  const stretch = (first: number, end: number, heldAt: number): Stretch => {
    const at = Math.max(first, from)
    return { at, heldAt: heldAt + at - first, length: Math.min(end, to) - at }
  }
  return [
    stretch(0, run.trainedLength, before.trainedLength),
    stretch(run.trainedLength, run.length, untrainedAt),
  ].filter(({ length }) => length > 0)
}

/** A copy: V times the portion's length. @throws InvariantError when those layers are not held */
export function readPortion(layouts: readonly LayerLayout[], held: Held, portion: Portion): Float32Array {
  const length = portion.to - portion.from
  const values = new Float32Array(held.vectors.length * length)
  const stretches = stretchesOf(layouts, held.layers, portion)
  for (const [index, vector] of held.vectors.entries())
    for (const { at, heldAt, length: count } of stretches)
      values.set(vector.subarray(heldAt, heldAt + count), index * length + at - portion.from)
  return values
}

/** Put what `readPortion` gave in its place. @throws InvariantError when those layers are not held */
export function writePortion(
  layouts: readonly LayerLayout[],
  held: Held,
  { portion, values }: { readonly portion: Portion; readonly values: Float32Array },
): void {
  const length = portion.to - portion.from
  const stretches = stretchesOf(layouts, held.layers, portion)
  for (const [index, vector] of held.vectors.entries())
    for (const { at, heldAt, length: count } of stretches) {
      const start = index * length + at - portion.from
      vector.set(values.subarray(start, start + count), heldAt)
    }
}
