/** Where everything stands in the picture of the pool: x is the model's layers, rows are clusters. All in picture units. */
import type { MemberView } from '../../../shared/messages/control.ts'
import type { Plan, StagePlan } from '../../../shared/plan/plan.ts'
import { clusterName, layersInWords } from '../../../shared/plan/words.ts'
import { few } from './numbers.ts'
import { nameOf } from './pool-names.ts'
import { slowestOf, statusOf } from './pool-status.ts'
import type { StageTone } from './pool-status.ts'
import { ringsBetween } from './pool-rings.ts'
import type { RingMark } from './pool-rings.ts'

const width = 640
const left = 80
const rowHeight = 64
const rowGap = 36
const top = 22
/** Between two stages, for the arrow. */
const stageGap = 16
/** Wide enough for name, layers and state. */
const roomy = 110
const mostLayerLabels = 16

export interface StageBox {
  readonly peer: string
  readonly name: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly layers: string
  readonly status: string
  /** Where the whole status does not fit. */
  readonly short: string
  readonly tone: StageTone
  readonly me: boolean
  /** Too narrow for the line of layers. */
  readonly narrow: boolean
}

export interface ClusterRow {
  readonly name: string
  readonly pace: string
  readonly y: number
  readonly stages: readonly StageBox[]
}

export interface PoolLayout {
  readonly width: number
  readonly height: number
  readonly layerLabels: readonly { readonly x: number; readonly text: string }[]
  readonly clusters: readonly ClusterRow[]
  readonly rings: readonly RingMark[]
}

export interface PoolView {
  readonly plan: Plan
  readonly members: readonly MemberView[]
  readonly self: string
}

interface Grid {
  readonly columns: number
  readonly column: number
  readonly at: (layer: number) => number
}

function gridOf(plan: Plan): Grid {
  const columns = Math.max(
    1,
    ...plan.layout.clusters.flatMap(({ stages }) => stages.map(({ layers }) => layers[1])),
  )
  const column = (width - left) / columns
  return { columns, column, at: (layer) => left + layer * column }
}

function boxOf(
  stage: StagePlan,
  place: { view: PoolView; grid: Grid; y: number; slowest: string | undefined },
): StageBox {
  const { view, grid, y } = place
  const [from, to] = stage.layers
  const span = (to - from) * grid.column
  // A thin stage keeps most of its column: the gap is never the larger part.
  const boxWidth = span - Math.min(to === grid.columns ? 2 : stageGap, span * 0.4)
  const member = view.members.find(({ peer }) => peer === stage.peer)
  return {
    peer: stage.peer,
    name: nameOf(stage.peer, view.members),
    x: grid.at(from),
    y,
    width: boxWidth,
    height: rowHeight,
    layers: layersInWords(stage.layers),
    ...statusOf(member, place.slowest === stage.peer),
    me: stage.peer === view.self,
    narrow: boxWidth < roomy,
  }
}

/** Pure geometry: the same plan and members always make the same picture. */
export function layPool(view: PoolView): PoolLayout {
  const { plan } = view
  const grid = gridOf(plan)
  const rows = plan.layout.clusters.map((cluster, index): ClusterRow => {
    const y = top + index * (rowHeight + rowGap)
    const slowest = slowestOf(cluster.stages)
    const active = plan.active.includes(index)
    return {
      name: clusterName(index),
      pace: active ? few(cluster.samplesPerSecond) : 'rests',
      y,
      stages: cluster.stages.map((stage) => boxOf(stage, { view, grid, y, slowest })),
    }
  })
  const every = Math.ceil(grid.columns / mostLayerLabels)
  return {
    width,
    height: top + rows.length * rowHeight + (rows.length - 1) * rowGap + 2,
    layerLabels: Array.from({ length: grid.columns }, (_, layer) => layer)
      .filter((layer) => layer % every === 0)
      .map((layer) => ({ x: grid.at(layer) + grid.column / 2 - stageGap / 4, text: String(layer + 1) })),
    clusters: rows,
    rings: ringsBetween(view, {
      at: grid.at,
      rowY: (row) => rows[row]?.y ?? top,
      rowHeight,
      shift: stageGap / 2,
    }),
  }
}
