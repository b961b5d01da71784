/**
 * What one sample costs in each kind of layer: operations forward, and the floats that its passes take on an engine.
 *
 * `taped` was measured: the peak of one-layer stages of the TensorFlow.js engine, clones and views counted as it counts
 * them. `kept` and `scratch` follow the own kernels' plans (`edge/engine/wasm/layers`), layer by layer.
 * `test/scenarios/memory-bound.test.ts` holds both to the truth.
 */
import { type Layer, type PlainLayer } from '../../../shared/model/layers.ts'
import { layoutOfLayer, type Shape } from '../../../shared/model/layout.ts'
import { elementCount } from '../../../shared/tensor.ts'
import type { Flops } from '../../../shared/units.ts'

export interface LayerCost {
  /** Forward only; a multiply-add counts as two. */
  readonly flops: Flops
  /** TensorFlow.js: elements alive at once in the backward pass, recomputed forward included. */
  readonly taped: number
  /** Own kernels: elements of the forward pass that the backward pass needs, the layer's input not among them. */
  readonly kept: number
  /** Own kernels: elements alive at once in the backward pass beside those, the output's gradient included. */
  readonly scratch: number
}

/** Layers that compute where their input lies unless somebody else reads it: they keep nothing then. */
const inPlace: ReadonlySet<Layer['type']> = new Set(['relu', 'dropout', 'position-embedding'])
/** Layers after which the next one may not compute in place: their backward pass reads their output. */
const readsOutput = 'relu'

type Costs = {
  [T in PlainLayer['type']]: (
    layer: Extract<PlainLayer, { type: T }>,
    input: Shape,
    output: Shape,
  ) => LayerCost
}

/** So many operations, and so many floats of each kind, an output element; the input is as large. */
const perOutput =
  (operations: number, floats: Omit<LayerCost, 'flops'>) =>
  (_layer: PlainLayer, _input: Shape, output: Shape): LayerCost => {
    const outputs = elementCount(output)
    return {
      flops: operations * outputs,
      taped: floats.taped * outputs,
      kept: floats.kept * outputs,
      scratch: floats.scratch * outputs,
    }
  }

const channelsOf = (shape: Shape) => shape.at(-1) ?? 1

/** Windows over an image. */
const pooling =
  (kept: number) =>
  (layer: { readonly size: number }, input: Shape, output: Shape): LayerCost => {
    const [inputs, outputs] = [elementCount(input), elementCount(output)]
    return {
      flops: layer.size ** 2 * outputs,
      taped: 3 * (outputs + inputs),
      kept: kept * outputs,
      scratch: outputs + inputs,
    }
  }

/** Statistics beside the result: `share` numbers a channel or a row, which a sample has `of`. */
const norm =
  (share: number, of: (output: Shape) => number) =>
  (_layer: PlainLayer, _input: Shape, output: Shape): LayerCost => {
    const outputs = elementCount(output)
    const statistics = share * of(output)
    return {
      flops: 8 * outputs,
      taped: 14 * outputs,
      kept: outputs + statistics,
      scratch: 2 * outputs + statistics,
    }
  }

const costs: Costs = {
  dense(layer, input, output) {
    const [inputs, outputs] = [elementCount(input), elementCount(output)]
    return {
      flops: 2 * inputs * layer.units,
      taped: 5 * outputs + inputs,
      kept: outputs,
      scratch: outputs + inputs,
    }
  },
  conv2d(layer, input, output) {
    const [inputs, outputs] = [elementCount(input), elementCount(output)]
    return {
      flops: 2 * layer.kernel ** 2 * (channelsOf(input) / layer.groups) * outputs,
      taped: 3 * outputs + inputs,
      kept: outputs,
      // With a stride the input's gradient is put together from one class of pixels after the other.
      scratch: outputs + (layer.stride > 1 ? 2 : 1) * inputs,
    }
  },
  'max-pool': pooling(2),
  'average-pool': pooling(1),
  'global-average-pool': (_layer, input, output) => ({
    flops: elementCount(input),
    taped: 4 * elementCount(input),
    kept: elementCount(output),
    scratch: elementCount(output) + elementCount(input),
  }),
  'batch-norm': norm(3, channelsOf),
  'layer-norm': norm(2, (output) => elementCount(output) / channelsOf(output)),
  'token-embedding': perOutput(0, { taped: 4, kept: 1, scratch: 1 }),
  'position-embedding': perOutput(1, { taped: 5, kept: 1, scratch: 1 }),
  // taped: 48 vectors a token (qkv, its parts by head, context, projection, their gradients), 8 numbers a pair of tokens
  // and head. kept: qkv, mixed values, projection, and the weights by head; scratch: their gradients and one head's.
  attention(layer, input) {
    const [tokens = 1, width = 1] = input
    const pairs = tokens * tokens
    return {
      flops: 8 * tokens * width * width + 4 * pairs * width + 5 * layer.heads * pairs,
      taped: 48 * tokens * width + 8 * layer.heads * pairs,
      kept: 5 * tokens * width + layer.heads * pairs,
      scratch: 5 * tokens * width + 2 * pairs,
    }
  },
  dropout: perOutput(2, { taped: 8, kept: 1, scratch: 2 }),
  relu: perOutput(1, { taped: 6, kept: 1, scratch: 2 }),
  gelu: perOutput(10, { taped: 15, kept: 1, scratch: 2 }),
  silu: perOutput(5, { taped: 10, kept: 1, scratch: 2 }),
  flatten: perOutput(0, { taped: 4, kept: 0, scratch: 1 }),
}

/** Whether a layer behind this one may compute in the place of its output. */
export function leavesOutputFree(layer: Layer, inputIsFree: boolean): boolean {
  return layer.type === 'flatten' ? inputIsFree : layer.type !== readsOutput
}

/**
 * Cost of one layer on samples of `input`, nested layers included. The graph was checked.
 *
 * @param inputIsFree - nobody else reads the input: it may be computed in place
 */
export function layerCost(layer: Layer, input: Shape, inputIsFree = false): LayerCost {
  if (layer.type === 'residual') return residualCost(layer, input)
  // The rule for a type takes layers of that type: TypeScript cannot follow that through the table.
  const rule = costs[layer.type] as (layer: PlainLayer, input: Shape, output: Shape) => LayerCost
  const cost = rule(layer, input, layoutOfLayer(layer, input).outputShape)
  return inputIsFree && inPlace.has(layer.type) ? { ...cost, kept: 0 } : cost
}

function residualCost(layer: Extract<Layer, { type: 'residual' }>, input: Shape): LayerCost {
  const body = runCost(layer.body, input)
  const shortcut = runCost(layer.shortcut, input)
  const outputs = elementCount(body.output)
  return {
    flops: body.flops + shortcut.flops + outputs,
    taped: body.taped + shortcut.taped + 6 * outputs,
    // The sum takes the body's place.
    kept: body.kept + shortcut.kept + (body.outputIsFree ? 0 : outputs),
    // The output's gradient stays for both branches; both give one by the input.
    scratch: Math.max(body.scratch, shortcut.scratch) + outputs + 2 * elementCount(input),
  }
}

interface RunCost extends LayerCost {
  readonly output: Shape
  readonly outputIsFree: boolean
}

/** Layers one after the other; of their backward passes one is under way at a time. */
function runCost(layers: readonly Layer[], input: Shape): RunCost {
  let [output, outputIsFree] = [input, false]
  const sum = { flops: 0, taped: 0, kept: 0, scratch: 0 }
  for (const layer of layers) {
    const cost = layerCost(layer, output, outputIsFree)
    sum.flops += cost.flops
    sum.taped += cost.taped
    sum.kept += cost.kept
    sum.scratch = Math.max(sum.scratch, cost.scratch)
    output = layoutOfLayer(layer, output).outputShape
    outputIsFree = leavesOutputFree(layer, outputIsFree)
  }
  return { ...sum, output, outputIsFree }
}
