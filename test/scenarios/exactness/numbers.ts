/** Parameters by name as plain float32 numbers, and whether two sets of them are the very same bits. */
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../../shared/model/layout.ts'
import type { StateVector } from '../../../main/core/ports.ts'

export type Numbers = ReadonlyMap<string, Float32Array>

/** The numbers of one run of layers, each parameter by its name; untrained ones too. */
export function byName(graph: ModelGraph, { layers, values }: StateVector): Numbers {
  const { trained, untrained } = layoutOf(graph, layers)
  return new Map(
    [...trained, ...untrained].map(({ name, offset, length }) => [
      name,
      values.slice(offset, offset + length),
    ]),
  )
}

export const layoutOf = (graph: ModelGraph, layers: LayerRange = [0, graph.layers.length]) =>
  stateLayout(layoutOfGraph(graph), layers)

const bitsOf = (values: Float32Array) =>
  new Uint32Array(values.buffer, values.byteOffset, values.length).join()

/** Names of parameters that one side lacks, whose bits differ, or that hold a value that is no number. */
export function differences(found: Numbers, wanted: Numbers): string[] {
  const names = [...new Set([...found.keys(), ...wanted.keys()])]
  return names.filter((name) => {
    const [one, other] = [found.get(name), wanted.get(name)]
    return !one?.every(Number.isFinite) || other === undefined || bitsOf(one) !== bitsOf(other)
  })
}

/** The largest difference of any number, as a share of the largest of all; Infinity where one is missing. */
export function furthest(found: Numbers, wanted: Numbers): number {
  let [most, largest] = [0, 1e-12]
  for (const [name, numbers] of wanted) {
    const own = found.get(name)
    for (const [at, value] of numbers.entries()) {
      most = Math.max(most, Math.abs((own?.[at] ?? Infinity) - value))
      largest = Math.max(largest, Math.abs(value))
    }
  }
  return most / largest
}
