/** A committed PyTorch case as part of a model, for engines that know stages only. */
import { type LayerRange, type ModelGraph, modelGraph } from '../../../../shared/model/graph.ts'
import type { ReferenceCase } from './reference-cases.ts'

/** Lets values through, so that the case's own layers are neither root nor leaf. */
const through = (name: string) => ({ type: 'dropout', name, rate: 0 })

export function graphOf({ input, layers }: ReferenceCase): { graph: ModelGraph; range: LayerRange } {
  const sample = input.shape.slice(1)
  const tokens = input.dtype === 'int32'
  const graph = modelGraph.parse({
    format: 'rookery-model/1',
    name: 'case',
    task: 'classify',
    input: tokens
      ? { type: 'tokens', length: sample[0], vocabulary: 1_000_000 }
      : { type: 'values', shape: sample },
    layers: [...(tokens ? [] : [through('before')]), ...layers, through('after')],
    loss: { type: 'cross-entropy' },
  })
  const from = tokens ? 0 : 1
  return { graph, range: [from, from + layers.length] }
}
