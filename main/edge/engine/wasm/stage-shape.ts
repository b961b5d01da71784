/** What a stage is, before it holds a number: its layers, shapes and where its numbers lie. */
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { Layer } from '../../../../shared/model/layers.ts'
import {
  type LayerLayout,
  type Shape,
  type StateLayout,
  layoutOfGraph,
  stateLayout,
} from '../../../../shared/model/layout.ts'
import type { StageSetup } from '../../../core/ports.ts'
import { checkWithin } from '../checks.ts'

export interface StageShape {
  readonly setup: StageSetup
  readonly layers: readonly Layer[]
  /** Of the whole graph. */
  readonly layouts: readonly LayerLayout[]
  readonly layout: StateLayout
  /** Its input comes from the data; nothing wants its gradient. */
  readonly isRoot: boolean
  /** Its output is judged. */
  readonly isLeaf: boolean
  /** Without the micro-batch axis. */
  readonly inputShape: Shape
  readonly outputShape: Shape
}

/** @throws InvalidInputError when the graph's shapes do not fit or it has no such layers */
export function stageShape(setup: StageSetup): StageShape {
  const { graph } = setup
  const [from, to] = setup.layers
  const layouts = layoutOfGraph(graph)
  checkWithin(setup.layers, [0, layouts.length])
  const [first, last] = [layouts[from], layouts[to - 1]]
  if (first === undefined || last === undefined) throw new InvalidInputError('a stage needs a layer')
  return {
    setup,
    layers: graph.layers.slice(from, to),
    layouts,
    layout: stateLayout(layouts, setup.layers),
    isRoot: from === 0,
    isLeaf: to === layouts.length,
    inputShape: first.inputShape,
    outputShape: last.outputShape,
  }
}
