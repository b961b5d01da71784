/** Is this a model that can be trained? The one gate for graphs from files and strangers. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { type ModelGraph, modelGraph } from '../../../shared/model/graph.ts'
import { type Layer, layerBounds } from '../../../shared/model/layers.ts'
import { type LayerLayout, layoutOfGraph } from '../../../shared/model/layout.ts'
import { elementCount } from '../../../shared/tensor.ts'
import { checkTask, checkTokens } from './check-task.ts'
import { describeGraphIssue } from '../../../shared/model/graph-issue.ts'

/** Layers of a graph, nested ones included; far above any model that people train at home. */
const maxLayers = 20_000
/** Numbers in one layer: as many as a Float32Array of ours may hold. */
const maxLayerElements = 2 ** 31

/**
 * A graph with every default filled in, whose layers fit each other, its input, its loss and its task.
 *
 * @throws InvalidInputError with one sentence that names the layer at fault
 */
export function checkGraph(raw: unknown): ModelGraph {
  checkNesting(raw)
  const parsed = modelGraph.safeParse(raw)
  if (!parsed.success) throw new InvalidInputError(`model: ${describeGraphIssue(raw, parsed.error)}`)
  const graph = parsed.data
  checkNames(graph.layers, '')
  checkTokens(graph)
  const layouts = layoutOfGraph(graph)
  checkSizes(graph, layouts)
  checkTask(graph, layouts.at(-1)?.outputShape ?? [])
  return graph
}

/** Bound depth and count of nested layers without recursion: nobody has checked these bytes yet. */
function checkNesting(raw: unknown): void {
  const open = [{ layers: memberOf(raw, 'layers'), path: '', depth: 0 }]
  let count = 0
  for (let run = open.pop(); run !== undefined; run = open.pop()) {
    if (!Array.isArray(run.layers)) continue
    count += run.layers.length
    if (count > maxLayers) throw new InvalidInputError(`model: it has more than ${maxLayers} layers`)
    for (const layer of run.layers as unknown[]) {
      const path = `${run.path}${nameOf(layer)}`
      for (const part of ['body', 'shortcut']) {
        const layers = memberOf(layer, part)
        if (layers === undefined) continue
        if (run.depth === layerBounds.depth)
          throw new InvalidInputError(`layer "${path}" is nested more than ${layerBounds.depth} deep`)
        open.push({ layers, path: `${path}/${part}/`, depth: run.depth + 1 })
      }
    }
  }
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

function nameOf(layer: unknown): string {
  const name = memberOf(layer, 'name')
  return typeof name === 'string' ? name.slice(0, 64) : '?'
}

function checkNames(layers: readonly Layer[], path: string): void {
  const seen = new Set<string>()
  for (const layer of layers) {
    if (seen.has(layer.name))
      throw new InvalidInputError(
        `layer "${path}${layer.name}" has the name of another layer beside it; give each its own`,
      )
    seen.add(layer.name)
    if (layer.type !== 'residual') continue
    checkNames(layer.body, `${path}${layer.name}/body/`)
    checkNames(layer.shortcut, `${path}${layer.name}/shortcut/`)
  }
}

function checkSizes(graph: ModelGraph, layouts: readonly LayerLayout[]): void {
  for (const [index, layout] of layouts.entries()) {
    const elements = layout.parameters.reduce((sum, spec) => sum + elementCount(spec.shape), 0)
    if (elements > maxLayerElements)
      throw new InvalidInputError(
        `layer "${graph.layers[index]?.name ?? ''}" needs ${elements} parameters; the most is ${maxLayerElements}`,
      )
  }
  if (!layouts.some((layout) => layout.parameters.some((spec) => spec.trained)))
    throw new InvalidInputError(`model "${graph.name}" has no layer with parameters to train`)
}
