/** The numbers that training starts from. */
import { InvariantError } from '../../../shared/errors.ts'
import type { LayerRange, ModelGraph } from '../../../shared/model/graph.ts'
import { layoutOfGraph, type Placed, stateLayout } from '../../../shared/model/layout.ts'
import { createRng, nextNormal, seedFrom } from '../../../shared/random.ts'
import type { StateVector } from '../ports.ts'

/**
 * The first numbers of layers [from, to): a pure function of the seed and each parameter's name, so that
 * a stage draws exactly what the whole model would hold there, on every machine.
 */
export function initialState(graph: ModelGraph, layers: LayerRange, seed: number): StateVector {
  const layouts = layoutOfGraph(graph)
  if (layers[0] < 0 || layers[1] > layouts.length || layers[0] > layers[1])
    throw new InvariantError(`layers [${layers.join(', ')}) are not in a model of ${layouts.length} layers`)
  const { trained, untrained, length } = stateLayout(layouts, layers)
  const values = new Float32Array(length)
  for (const spec of [...trained, ...untrained]) fill(values, spec, seed)
  return { layers, values }
}

function fill(values: Float32Array, { name, initial, offset, length }: Placed, seed: number): void {
  const end = offset + length
  if (initial.type === 'constant') {
    values.fill(initial.value, offset, end)
    return
  }
  const rng = createRng(seedFrom('initial', seed, name))
  for (let at = offset; at < end; at++) values[at] = initial.deviation * nextNormal(rng)
}
