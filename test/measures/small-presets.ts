/** The presets with fewer numbers in every layer: the same layers in the same order, for engines that are slow. */
import { presetNames, resolveModel } from '../../main/agent/models.ts'
import { type ModelGraph, modelGraph } from '../../shared/model/graph.ts'

/** Of what a layer is told, what is made smaller, and what no smaller than. */
const least: Readonly<Record<string, number>> = { filters: 4, width: 16, units: 16 }
const divisor = 8

export async function smallPresets(): Promise<readonly ModelGraph[]> {
  const graphs = await Promise.all((await presetNames()).map((name) => resolveModel(name)))
  return graphs.map(smaller)
}

/** The head stays, since its units are the answers. */
function smaller(graph: ModelGraph): ModelGraph {
  const head = graph.layers.at(-1)
  return modelGraph.parse({
    ...graph,
    input:
      graph.input.type === 'tokens'
        ? { ...graph.input, length: 8 }
        : { ...graph.input, shape: graph.input.shape.map((extent) => Math.min(extent, 16)) },
    layers: [...graph.layers.slice(0, -1).map(shrink), head],
  })
}

function shrink(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shrink)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => {
      const floor = least[name]
      const small = floor === undefined || typeof part !== 'number' ? part : Math.max(floor, part / divisor)
      return [name, shrink(small)]
    }),
  )
}
