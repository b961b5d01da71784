/** Every kind of layer that a model may have. Shapes leave out the micro-batch axis B. */
import { z } from 'zod'

/** Upper bounds on what a graph from a stranger may ask for, checked before anything is allocated. */
export const layerBounds = {
  width: 65_536,
  kernel: 64,
  vocabulary: 1_000_000,
  length: 65_536,
  depth: 4,
  layers: 2048,
}

const width = z.int().min(1).max(layerBounds.width)
const kernel = z.int().min(1).max(layerBounds.kernel)
const padding = z.enum(['same', 'valid'])
/** Unique among its siblings; parameters are named `layer/parameter`. */
const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/)

/**
 * How a weight starts. `kaiming`: normal, deviation sqrt(2 / fan-in). `xavier`: normal, deviation
 * sqrt(2 / (fan-in + fan-out)). `normal`: the deviation given. Biases start at 0, norm scales at 1.
 */
export const initializer = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('kaiming') }),
  z.strictObject({ type: z.literal('xavier') }),
  z.strictObject({ type: z.literal('normal'), deviation: z.number().min(0).max(10) }),
])
export type Initializer = z.infer<typeof initializer>

/** y = x·W + b over the last axis: [..., in] → [..., units]. */
const dense = z.strictObject({
  type: z.literal('dense'),
  name,
  units: width,
  bias: z.boolean().default(true),
  initializer: initializer.default({ type: 'kaiming' }),
})

/** [H, W, C] → [H', W', filters]; groups = C is a depthwise convolution. Weight [k, k, C/groups, filters]. */
const conv2d = z.strictObject({
  type: z.literal('conv2d'),
  name,
  filters: width,
  kernel,
  stride: kernel.default(1),
  padding: padding.default('same'),
  groups: width.default(1),
  bias: z.boolean().default(true),
  initializer: initializer.default({ type: 'kaiming' }),
})

const poolingShape = { name, size: kernel, stride: kernel.optional(), padding: padding.default('valid') }
/** [H, W, C] → [H', W', C]; stride defaults to size. */
const maxPool = z.strictObject({ type: z.literal('max-pool'), ...poolingShape })
/** As max-pool, with the mean; padded places do not count. */
const averagePool = z.strictObject({ type: z.literal('average-pool'), ...poolingShape })
/** [H, W, C] → [C]. */
const globalAveragePool = z.strictObject({ type: z.literal('global-average-pool'), name })

/**
 * Normalise each channel (last axis) over the micro-batch and all other axes; scale and shift are trained.
 * The running mean and variance are state that is not trained: running = momentum·running + (1-momentum)·batch,
 * with the unbiased batch variance, as in PyTorch (whose own momentum is one minus ours).
 */
const batchNorm = z.strictObject({
  type: z.literal('batch-norm'),
  name,
  momentum: z.number().min(0).max(1).default(0.9),
  epsilon: z.number().min(1e-12).max(1).default(1e-5),
})

/** Normalise the last axis; scale and shift are trained. */
const layerNorm = z.strictObject({
  type: z.literal('layer-norm'),
  name,
  epsilon: z.number().min(1e-12).max(1).default(1e-5),
})

/** Token ids [T] int32 → [T, width]. */
const tokenEmbedding = z.strictObject({
  type: z.literal('token-embedding'),
  name,
  vocabulary: z.int().min(1).max(layerBounds.vocabulary),
  width,
  initializer: initializer.default({ type: 'normal', deviation: 0.02 }),
})

/** Adds a trained vector a position: [T, D] → [T, D]. */
const positionEmbedding = z.strictObject({
  type: z.literal('position-embedding'),
  name,
  initializer: initializer.default({ type: 'normal', deviation: 0.02 }),
})

/** Multi-head self-attention with its in and out projections: [T, D] → [T, D]. Weights qkv [D, 3D], out [D, D]. */
const attention = z.strictObject({
  type: z.literal('attention'),
  name,
  heads: z.int().min(1).max(1024),
  causal: z.boolean(),
  initializer: initializer.default({ type: 'normal', deviation: 0.02 }),
})

/** Zeroes a share of the elements while training and scales the rest by 1/(1-rate); seeded by micro-batch. */
const dropout = z.strictObject({ type: z.literal('dropout'), name, rate: z.number().min(0).max(0.95) })

const relu = z.strictObject({ type: z.literal('relu'), name })
/** The tanh form: 0.5·x·(1 + tanh(sqrt(2/π)·(x + 0.044715·x³))). */
const gelu = z.strictObject({ type: z.literal('gelu'), name })
/** x · sigmoid(x). */
const silu = z.strictObject({ type: z.literal('silu'), name })
/** [...] → [product]. */
const flatten = z.strictObject({ type: z.literal('flatten'), name })

const plainLayers = [
  dense,
  conv2d,
  maxPool,
  averagePool,
  globalAveragePool,
  batchNorm,
  layerNorm,
  tokenEmbedding,
  positionEmbedding,
  attention,
  dropout,
  relu,
  gelu,
  silu,
  flatten,
] as const

const plainLayer = z.discriminatedUnion('type', plainLayers)
export type PlainLayer = z.infer<typeof plainLayer>

/** y = body(x) + shortcut(x); an empty shortcut is the identity. Never cut in two by a plan. */
export interface ResidualLayer {
  readonly type: 'residual'
  readonly name: string
  readonly body: readonly Layer[]
  readonly shortcut: readonly Layer[]
}

export type Layer = PlainLayer | ResidualLayer

const residual: z.ZodType<ResidualLayer> = z.strictObject({
  type: z.literal('residual'),
  name,
  get body(): z.ZodType<readonly Layer[]> {
    return z.array(layer).min(1).max(32)
  },
  get shortcut(): z.ZodType<readonly Layer[]> {
    return z.array(layer).max(8).default([])
  },
})

/** One layer of a graph. Depth of nesting is bounded in `core/model`, before anything recurses over it. */
export const layer: z.ZodType<Layer> = z.union([plainLayer, residual])
