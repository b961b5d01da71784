/** What a layer's planner is given and what it answers. */
import type { PlainLayer } from '../../../../../shared/model/layers.ts'
import type { Shape } from '../../../../../shared/model/layout.ts'
import type { Place, Plan, Wire } from '../plan.ts'

/** Where a layer stands. */
export interface LayerSite {
  readonly plan: Plan
  /** `layer`, nested `block/body/layer`. */
  readonly path: string
  /** Of one sample. */
  readonly inputShape: Shape
  readonly outputShape: Shape
  /** A parameter of this layer by its short name. */
  readonly parameter: (name: string) => Place
  readonly gradient: (name: string) => Place
}

/** A layer's part of the plan. Its forward pass is planned already. */
export interface Planned {
  readonly y: Wire
  /**
   * Plan the backward pass. Gives dy back or passes it on.
   * @param wanted - whether anybody wants the gradient by the input
   */
  readonly back: (dy: Wire, wanted: boolean) => Wire | undefined
}

export type LayerPlanner<T extends PlainLayer['type']> = (
  layer: Extract<PlainLayer, { type: T }>,
  x: Wire,
  site: LayerSite,
) => Planned
