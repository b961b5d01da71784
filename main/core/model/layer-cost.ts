/**
 * What one sample costs in each kind of layer: operations forward, and the floats that automatic differentiation
 * keeps while its backward pass runs.
 *
 * `i` and `o` are the elements of a layer's input and output. Kept floats are counted op by op as the TensorFlow.js
 * engine composes each layer (its outputs, and the gradients alive beside them); engines that fuse ops need less.
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
  // product, sum with the bias, gradient
  dense: (layer, input, output) => ({
    flops: 2 * elementCount(input) * layer.units,
    keptElements: 3 * elementCount(output),
  }),
  conv2d: (layer, input, output) => ({
    flops: 2 * layer.kernel ** 2 * (channelsOf(input) / layer.groups) * elementCount(output),
    keptElements: 3 * elementCount(output),
  }),
  'max-pool': (layer, input, output) => ({
    flops: layer.size ** 2 * elementCount(output),
    keptElements: elementCount(output) + elementCount(input),
  }),
  'average-pool': (layer, input, output) => ({
    flops: layer.size ** 2 * elementCount(output),
    keptElements: elementCount(output) + elementCount(input),
  }),
  'global-average-pool': (_layer, input) => ({
    flops: elementCount(input),
    keptElements: 2 * elementCount(input),
  }),
  // centred, squared, normalised, scaled, shifted, two gradients
  'batch-norm': perOutput(8, 7),
  'layer-norm': perOutput(8, 7),
  'token-embedding': perOutput(0, 2),
  'position-embedding': perOutput(1, 2),
  // qkv, its parts by head, context, projection: 20 vectors a token; scores, masked, softmax, gradient a pair of tokens
  attention(layer, input) {
    const [tokens = 1, width = 1] = input
    const pairs = tokens * tokens
    return {
      flops: 8 * tokens * width * width + 4 * pairs * width + 5 * layer.heads * pairs,
      keptElements: 20 * tokens * width + 4 * layer.heads * pairs,
    }
  },
  dropout: perOutput(2, 3),
  relu: perOutput(1, 2),
  gelu: perOutput(10, 10),
  silu: perOutput(5, 4),
  flatten: perOutput(0, 1),
}

/** Cost of one layer on samples of `input`, nested layers included. The graph was checked. */
export function layerCost(layer: Layer, input: Shape): LayerCost {
  if (layer.type === 'residual') {
    const body = runCost(layer.body, input)
    const shortcut = runCost(layer.shortcut, input)
    const outputs = elementCount(body.output)
    return {
      flops: body.flops + shortcut.flops + outputs,
      keptElements: body.keptElements + shortcut.keptElements + 2 * outputs,
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
