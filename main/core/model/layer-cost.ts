/**
 * What one sample costs in each kind of layer: operations forward, and the floats that automatic differentiation
 * keeps while its backward pass runs.
 *
 * Kept floats were measured: the peak of one-layer stages of the TensorFlow.js engine, clones and views counted as it
 * counts them. `test/scenarios/memory-bound.test.ts` holds them to the truth. Engines that fuse ops need less.
 */
import { type Layer, type PlainLayer } from '../../../shared/model/layers.ts'
import { layoutOfLayer, type Shape } from '../../../shared/model/layout.ts'
import { elementCount } from '../../../shared/tensor.ts'
import type { Flops } from '../../../shared/units.ts'

export interface LayerCost {
  /** Forward only; a multiply-add counts as two. */
  readonly flops: Flops
  /** Elements alive at once in the backward pass, recomputed forward included. */
  readonly keptElements: number
}

type Costs = {
  [T in PlainLayer['type']]: (
    layer: Extract<PlainLayer, { type: T }>,
    input: Shape,
    output: Shape,
  ) => LayerCost
}

/** So many operations, and so many kept floats, an output element. */
const perOutput =
  (operations: number, kept: number) => (_layer: PlainLayer, _input: Shape, output: Shape) => ({
    flops: operations * elementCount(output),
    keptElements: kept * elementCount(output),
  })

const channelsOf = (shape: Shape) => shape.at(-1) ?? 1

const costs: Costs = {
  dense: (layer, input, output) => ({
    flops: 2 * elementCount(input) * layer.units,
    keptElements: 5 * elementCount(output) + elementCount(input),
  }),
  conv2d: (layer, input, output) => ({
    flops: 2 * layer.kernel ** 2 * (channelsOf(input) / layer.groups) * elementCount(output),
    keptElements: 3 * elementCount(output) + elementCount(input),
  }),
  'max-pool': (layer, input, output) => ({
    flops: layer.size ** 2 * elementCount(output),
    keptElements: 3 * (elementCount(output) + elementCount(input)),
  }),
  'average-pool': (layer, input, output) => ({
    flops: layer.size ** 2 * elementCount(output),
    keptElements: 3 * (elementCount(output) + elementCount(input)),
  }),
  'global-average-pool': (_layer, input) => ({
    flops: elementCount(input),
    keptElements: 4 * elementCount(input),
  }),
  'batch-norm': perOutput(8, 14),
  'layer-norm': perOutput(8, 14),
  'token-embedding': perOutput(0, 4),
  'position-embedding': perOutput(1, 5),
  // 48 vectors a token (qkv, its parts by head, context, projection, their gradients), 8 numbers a pair of tokens and head.
  attention(layer, input) {
    const [tokens = 1, width = 1] = input
    const pairs = tokens * tokens
    return {
      flops: 8 * tokens * width * width + 4 * pairs * width + 5 * layer.heads * pairs,
      keptElements: 48 * tokens * width + 8 * layer.heads * pairs,
    }
  },
  dropout: perOutput(2, 8),
  relu: perOutput(1, 6),
  gelu: perOutput(10, 15),
  silu: perOutput(5, 10),
  flatten: perOutput(0, 4),
}

/** Cost of one layer on samples of `input`, nested layers included. The graph was checked. */
export function layerCost(layer: Layer, input: Shape): LayerCost {
  if (layer.type === 'residual') {
    const body = runCost(layer.body, input)
    const shortcut = runCost(layer.shortcut, input)
    const outputs = elementCount(body.output)
    return {
      flops: body.flops + shortcut.flops + outputs,
      keptElements: body.keptElements + shortcut.keptElements + 6 * outputs,
    }
  }
  // The rule for a type takes layers of that type: TypeScript cannot follow that through the table.
  const cost = costs[layer.type] as (layer: PlainLayer, input: Shape, output: Shape) => LayerCost
  return cost(layer, input, layoutOfLayer(layer, input).outputShape)
}

function runCost(layers: readonly Layer[], input: Shape): LayerCost & { readonly output: Shape } {
  let output = input
  let flops = 0
  let keptElements = 0
  for (const layer of layers) {
    const cost = layerCost(layer, output)
    flops += cost.flops
    keptElements += cost.keptElements
    output = layoutOfLayer(layer, output).outputShape
  }
  return { flops, keptElements, output }
}
