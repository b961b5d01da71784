/** The plan of a run of layers: forward in order, backward in reverse. */
import type { Layer, PlainLayer } from '../../../../../shared/model/layers.ts'
import { type Shape, layoutOfLayer } from '../../../../../shared/model/layout.ts'
import { type Plan, type Wire, samePlace } from '../plan.ts'
import { gelu, relu, silu } from './activations.ts'
import { attention } from './attention.ts'
import { conv2d } from './convolution.ts'
import { dense, flatten } from './dense.ts'
import { dropout } from './dropout.ts'
import { positionEmbedding, tokenEmbedding } from './embeddings.ts'
import { batchNorm, layerNorm } from './norms.ts'
import type { LayerPlanner, Planned } from './planner.ts'
import { averagePool, globalAveragePool, maxPool } from './pooling.ts'

const planners: { readonly [T in PlainLayer['type']]: LayerPlanner<T> } = {
  dense,
  conv2d,
  'max-pool': maxPool,
  'average-pool': averagePool,
  'global-average-pool': globalAveragePool,
  'batch-norm': batchNorm,
  'layer-norm': layerNorm,
  'token-embedding': tokenEmbedding,
  'position-embedding': positionEmbedding,
  attention,
  dropout,
  relu,
  gelu,
  silu,
  flatten,
}

/** Where a run of layers begins. */
export interface Start {
  readonly x: Wire
  /** Of one sample. */
  readonly shape: Shape
  /** Of the names: empty, or `block/body/`. */
  readonly prefix: string
}

export function planLayers(plan: Plan, layers: readonly Layer[], { x, shape, prefix }: Start): Planned {
  const backs: Planned['back'][] = []
  let [wire, sample] = [x, shape]
  const before = plan.kept()
  for (const layer of layers) {
    const path = `${prefix}${layer.name}`
    const { y, back } = planLayer(plan, layer, { x: wire, shape: sample, path })
    // Evaluation looks back at nothing but the layer's result; the run's own input is somebody else's.
    if (!plan.training) plan.forget(before, [y])
    backs.push(back)
    wire = y
    sample = layoutOfLayer(layer, sample, path).outputShape
  }
  return { y: wire, back: (dy, wanted) => planBack(backs, dy, wanted) }
}

function planBack(backs: readonly Planned['back'][], dy: Wire, wanted: boolean): Wire | undefined {
  let gradient: Wire | undefined = dy
  for (const [index, back] of [...backs.entries()].reverse()) {
    if (gradient === undefined) return undefined
    gradient = back(gradient, wanted || index > 0)
  }
  return gradient
}

interface Site {
  readonly x: Wire
  readonly shape: Shape
  readonly path: string
}

function planLayer(plan: Plan, layer: Layer, { x, shape, path }: Site): Planned {
  if (layer.type === 'residual') return planResidual(plan, layer, { x, shape, path })
  // The planner for a type takes layers of that type: TypeScript cannot follow that through the table.
  const planner = planners[layer.type] as LayerPlanner<PlainLayer['type']>
  return planner(layer, x, {
    ...{ plan, path, inputShape: shape },
    outputShape: layoutOfLayer(layer, shape, path).outputShape,
    parameter: (name) => plan.parameter(`${path}/${name}`),
    gradient: (name) => plan.gradient(`${path}/${name}`),
  })
}

/** y = body(x) + shortcut(x); dx = their gradients' sum. */
function planResidual(plan: Plan, layer: Extract<Layer, { type: 'residual' }>, site: Site): Planned {
  const shared: Wire = { ...site.x, free: false }
  const branch = (layers: readonly Layer[], part: string) =>
    planLayers(plan, layers, { x: shared, shape: site.shape, prefix: `${site.path}/${part}/` })
  const body = branch(layer.body, 'body')
  const shortcut = branch(layer.shortcut, 'shortcut')
  const y: Wire = body.y.free ? body.y : plan.keep(body.y.length)
  plan.forward.push((at) => plan.run('add', y.length, at(body.y), at(shortcut.y), at(y)))
  return {
    y,
    back(dy, wanted) {
      const lent: Wire = { ...dy, free: false }
      const byBody = body.back(lent, wanted)
      const byShortcut = shortcut.back(lent, wanted)
      if (!wanted || byBody === undefined || byShortcut === undefined) {
        plan.done(dy)
        return undefined
      }
      return planSum(plan, dy, [byBody, byShortcut])
    },
  }
}

/** The sum of two gradients, each of which may be dy itself. */
function planSum(plan: Plan, dy: Wire, [a, b]: readonly [Wire, Wire]): Wire {
  const own = [a, b, dy].find((wire) => wire.free)
  const sum = own ?? plan.borrow(dy.length)
  plan.backward.push((at) => plan.run('add', sum.length, at(a), at(b), at(sum)))
  for (const wire of [a, b, dy]) if (!samePlace(wire, sum)) plan.done(wire)
  return sum
}
