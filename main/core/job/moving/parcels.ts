/** How numbers are cut for their way: runs of whole layers, the same ones whoever asks, each in bounded pieces. */
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { type LayerLayout } from '../../../../shared/model/layout.ts'
import { lengthOf } from './held.ts'

/** 1 MiB of float32 in one message: a heartbeat never waits behind more. */
const pieceElements = 256 * 1024
/** 16 MiB: what is given up with a donor, at the most, unless one layer is larger; and what several donors share out. */
const parcelElements = 16 * pieceElements

/** The model as everyone of a job knows it. */
export interface Model {
  readonly layouts: readonly LayerLayout[]
  /** V: the weights, and each moment of the optimizer where there is one. */
  readonly vectors: number
}

/** Elements of each vector in one piece. */
export const pieceLength = ({ vectors }: Model): number => Math.max(1, Math.floor(pieceElements / vectors))

/** Where the model is cut, whatever is asked for: so all parcels of a place are the same. */
function gridOf({ layouts, vectors }: Model): readonly number[] {
  const cuts = [0]
  let elements = 0
  for (let layer = 0; layer < layouts.length; layer++) {
    const more = vectors * lengthOf(layouts, [layer, layer + 1])
    if (elements > 0 && elements + more > parcelElements) {
      cuts.push(layer)
      elements = 0
    }
    elements += more
  }
  return [...cuts, layouts.length]
}

/** The same layers in runs that reach over none of these bounds. */
export function cutAt(runs: readonly LayerRange[], bounds: readonly number[]): readonly LayerRange[] {
  return runs.flatMap(([from, to]) => {
    const inside = [...new Set(bounds)].filter((cut) => cut > from && cut < to).sort((a, b) => a - b)
    return [...inside, to].map((end, index): LayerRange => [inside[index - 1] ?? from, end])
  })
}

/** The parcels of some runs of layers. */
export const parcelsOf = (model: Model, runs: readonly LayerRange[]): readonly LayerRange[] =>
  cutAt(runs, gridOf(model))

/** The layers of a run that none of these runs has. */
export function without([from, to]: LayerRange, runs: readonly LayerRange[]): readonly LayerRange[] {
  const left: LayerRange[] = []
  for (let layer = from; layer < to; layer++) {
    if (runs.some(([first, end]) => layer >= first && layer < end)) continue
    const last = left.at(-1)
    if (last?.[1] === layer) left[left.length - 1] = [last[0], layer + 1]
    else left.push([layer, layer + 1])
  }
  return left
}
