/** The shape after each layer, and where each parameter lies in the numbers of a stage. Every engine and the planner agree on this. */
import { InvalidInputError } from '../errors.ts'
import { elementCount } from '../tensor.ts'
import type { LayerRange, ModelGraph } from './graph.ts'
import { type Initializer, type Layer, type PlainLayer, layerBounds } from './layers.ts'

/** The shape of one sample, without the micro-batch axis. */
export type Shape = readonly number[]

/** One tensor of a layer. */
export interface ParameterSpec {
  /** `layer/parameter`, nested layers as `block/layer/parameter`. */
  readonly name: string
  readonly shape: Shape
  /** False for state that travels but is not trained: running mean and variance. */
  readonly trained: boolean
  readonly initial: { readonly type: 'constant'; readonly value: number } | Drawn
}

/** Drawn from a normal distribution. */
interface Drawn {
  readonly type: 'normal'
  readonly deviation: number
}

/** What a layer does to a sample's shape, and the parameters it needs. */
export interface LayerLayout {
  readonly inputShape: Shape
  readonly outputShape: Shape
  readonly parameters: readonly ParameterSpec[]
}

const constant = (value: number) => ({ type: 'constant', value }) as const

function drawn(initializer: Initializer, fanIn: number, fanOut: number): Drawn {
  if (initializer.type === 'normal') return { type: 'normal', deviation: initializer.deviation }
  return {
    type: 'normal',
    deviation: Math.sqrt(2 / (initializer.type === 'kaiming' ? fanIn : fanIn + fanOut)),
  }
}

/** Extent after a window slides over it. `same`: ceil(n / stride); `valid`: floor((n − k) / stride) + 1. */
function windowed(
  extent: number,
  layer: { size: number; stride: number; padding: 'same' | 'valid' },
): number {
  return layer.padding === 'same'
    ? Math.ceil(extent / layer.stride)
    : Math.floor((extent - layer.size) / layer.stride) + 1
}

function fault(path: string, shape: Shape, wanted: string): InvalidInputError {
  return new InvalidInputError(
    `layer "${path}" gets a sample of shape [${shape.join(', ')}], but needs ${wanted}`,
  )
}

/** [H, W, C] of an image layer's input. */
function imageShape(path: string, shape: Shape): readonly [number, number, number] {
  const [height, width, channels] = shape
  if (shape.length !== 3 || height === undefined || width === undefined || channels === undefined)
    throw fault(path, shape, 'an image [height, width, channels]')
  return [height, width, channels]
}

function slide(
  path: string,
  shape: Shape,
  window: { size: number; stride: number; padding: 'same' | 'valid' },
) {
  const [height, width] = imageShape(path, shape)
  const out = [windowed(height, window), windowed(width, window)] as const
  if (out[0] < 1 || out[1] < 1) throw fault(path, shape, `an image at least ${window.size} wide and high`)
  return out
}

type Rules = {
  [T in PlainLayer['type']]: (
    layer: Extract<PlainLayer, { type: T }>,
    shape: Shape,
    path: string,
  ) => { outputShape: Shape; parameters?: readonly Omit<ParameterSpec, 'name'>[]; names?: readonly string[] }
}

const same = (_layer: PlainLayer, shape: Shape) => ({ outputShape: shape })
const lastOf = (shape: Shape) => shape[shape.length - 1] ?? 1

const rules: Rules = {
  relu: same,
  gelu: same,
  silu: same,
  dropout: same,
  flatten: (_layer, shape) => ({ outputShape: [elementCount(shape)] }),
  dense(layer, shape) {
    const fanIn = lastOf(shape)
    const weight = {
      shape: [fanIn, layer.units],
      trained: true,
      initial: drawn(layer.initializer, fanIn, layer.units),
    }
    const bias = { shape: [layer.units], trained: true, initial: constant(0) }
    return {
      outputShape: [...shape.slice(0, -1), layer.units],
      parameters: layer.bias ? [weight, bias] : [weight],
      names: ['weight', 'bias'],
    }
  },
  conv2d(layer, shape, path) {
    const [, , channels] = imageShape(path, shape)
    if (channels % layer.groups !== 0 || layer.filters % layer.groups !== 0)
      throw fault(path, shape, `channels and filters that divide into ${layer.groups} groups`)
    const [height, width] = slide(path, shape, { ...layer, size: layer.kernel })
    const area = layer.kernel * layer.kernel
    const fans = [area * (channels / layer.groups), area * (layer.filters / layer.groups)] as const
    const kernelShape = [layer.kernel, layer.kernel, channels / layer.groups, layer.filters]
    const weight = { shape: kernelShape, trained: true, initial: drawn(layer.initializer, ...fans) }
    const bias = { shape: [layer.filters], trained: true, initial: constant(0) }
    return {
      outputShape: [height, width, layer.filters],
      parameters: layer.bias ? [weight, bias] : [weight],
      names: ['weight', 'bias'],
    }
  },
  'max-pool': (layer, shape, path) => ({
    outputShape: [...slide(path, shape, { ...layer, stride: layer.stride ?? layer.size }), lastOf(shape)],
  }),
  'average-pool': (layer, shape, path) => ({
    outputShape: [...slide(path, shape, { ...layer, stride: layer.stride ?? layer.size }), lastOf(shape)],
  }),
  'global-average-pool': (_layer, shape, path) => ({ outputShape: [imageShape(path, shape)[2]] }),
  'batch-norm': (_layer, shape) => ({
    outputShape: shape,
    parameters: [
      { shape: [lastOf(shape)], trained: true, initial: constant(1) },
      { shape: [lastOf(shape)], trained: true, initial: constant(0) },
      { shape: [lastOf(shape)], trained: false, initial: constant(0) },
      { shape: [lastOf(shape)], trained: false, initial: constant(1) },
    ],
    names: ['scale', 'shift', 'running-mean', 'running-variance'],
  }),
  'layer-norm': (_layer, shape) => ({
    outputShape: shape,
    parameters: [
      { shape: [lastOf(shape)], trained: true, initial: constant(1) },
      { shape: [lastOf(shape)], trained: true, initial: constant(0) },
    ],
    names: ['scale', 'shift'],
  }),
  'token-embedding'(layer, shape, path) {
    if (shape.length !== 1) throw fault(path, shape, 'token ids [length]')
    const table = [layer.vocabulary, layer.width]
    return {
      outputShape: [...shape, layer.width],
      parameters: [
        { shape: table, trained: true, initial: drawn(layer.initializer, layer.width, layer.width) },
      ],
      names: ['table'],
    }
  },
  'position-embedding'(layer, shape, path) {
    if (shape.length !== 2) throw fault(path, shape, 'a sequence [length, width]')
    return {
      outputShape: shape,
      parameters: [{ shape, trained: true, initial: drawn(layer.initializer, lastOf(shape), lastOf(shape)) }],
      names: ['table'],
    }
  },
  attention(layer, shape, path) {
    const width = lastOf(shape)
    if (shape.length !== 2) throw fault(path, shape, 'a sequence [length, width]')
    if (width % layer.heads !== 0) throw fault(path, shape, `a width that divides into ${layer.heads} heads`)
    const initial = drawn(layer.initializer, width, width)
    return {
      outputShape: shape,
      parameters: [
        { shape: [width, 3 * width], trained: true, initial },
        { shape: [3 * width], trained: true, initial: constant(0) },
        { shape: [width, width], trained: true, initial },
        { shape: [width], trained: true, initial: constant(0) },
      ],
      names: ['qkv-weight', 'qkv-bias', 'out-weight', 'out-bias'],
    }
  },
}

/** Shape and parameters of one layer. @throws InvalidInputError when the shape does not suit it */
export function layoutOfLayer(layer: Layer, inputShape: Shape, path = layer.name, depth = 0): LayerLayout {
  if (depth > layerBounds.depth)
    throw new InvalidInputError(`layer "${path}" is nested more than ${layerBounds.depth} deep`)
  if (layer.type === 'residual') {
    const branch = (layers: readonly Layer[], part: string) =>
      layoutOfRun(layers, inputShape, `${path}/${part}`, depth + 1)
    const body = branch(layer.body, 'body')
    const shortcut = branch(layer.shortcut, 'shortcut')
    if (body.outputShape.join() !== shortcut.outputShape.join())
      throw fault(
        path,
        shortcut.outputShape,
        `body and shortcut of one shape (the body makes [${body.outputShape.join(', ')}])`,
      )
    return {
      inputShape,
      outputShape: body.outputShape,
      parameters: [...body.parameters, ...shortcut.parameters],
    }
  }
  // The rule for a type takes layers of that type: TypeScript cannot follow that through the table.
  const rule = rules[layer.type] as (
    layer: PlainLayer,
    shape: Shape,
    path: string,
  ) => ReturnType<Rules['dense']>
  const { outputShape, parameters = [], names = [] } = rule(layer, inputShape, path)
  if (elementCount(outputShape) > 2 ** 31)
    throw fault(path, inputShape, 'a smaller output than 2^31 elements a sample')
  return {
    inputShape,
    outputShape,
    parameters: parameters.map((spec, index) => ({ ...spec, name: `${path}/${names[index] ?? ''}` })),
  }
}

function layoutOfRun(layers: readonly Layer[], inputShape: Shape, path: string, depth: number) {
  let shape = inputShape
  const parameters: ParameterSpec[] = []
  for (const layer of layers) {
    const layout = layoutOfLayer(layer, shape, `${path}/${layer.name}`, depth)
    parameters.push(...layout.parameters)
    shape = layout.outputShape
  }
  return { outputShape: shape, parameters }
}

/** Layouts of the top-level layers of a graph. @throws InvalidInputError for a graph whose shapes do not fit */
export function layoutOfGraph(graph: ModelGraph): readonly LayerLayout[] {
  let shape: Shape = graph.input.type === 'tokens' ? [graph.input.length] : graph.input.shape
  return graph.layers.map((layer) => {
    const layout = layoutOfLayer(layer, shape)
    shape = layout.outputShape
    return layout
  })
}

/** One parameter's place in the numbers of a run of layers. Offsets and lengths in elements. */
export interface Placed extends ParameterSpec {
  readonly offset: number
  readonly length: number
}

/**
 * The numbers of a run of layers: each layer's trained parameters in order, then all untrained state of the run.
 * So the trained numbers of any run are one contiguous region, as optimizers want it.
 */
export interface StateLayout {
  readonly trained: readonly Placed[]
  readonly untrained: readonly Placed[]
  readonly trainedLength: number
  readonly length: number
}

/** Where the numbers of layers [from, to) lie. */
export function stateLayout(layouts: readonly LayerLayout[], [from, to]: LayerRange): StateLayout {
  const specs = layouts.slice(from, to).flatMap((layout) => layout.parameters)
  let offset = 0
  const place = (spec: ParameterSpec): Placed => {
    const length = elementCount(spec.shape)
    const placed = { ...spec, offset, length }
    offset += length
    return placed
  }
  const trained = specs.filter((spec) => spec.trained).map(place)
  const trainedLength = offset
  const untrained = specs.filter((spec) => !spec.trained).map(place)
  return { trained, untrained, trainedLength, length: offset }
}
