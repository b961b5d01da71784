/** Where everything stands in the picture of the pool: x is the model's layers, rows are clusters. All in picture units. */
import type { MemberView } from '../../../shared/messages/control.ts'
import type { Plan, StagePlan } from '../../../shared/plan/plan.ts'
import { few, memory, percent } from './numbers.ts'
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

type StageTone = 'plain' | 'slow' | 'waits' | 'lost'

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

/** The name of a peer, or the end of its key where nobody told us its name. */
export const nameOf = (peer: string, members: readonly MemberView[]): string =>
  members.find((member) => member.peer === peer)?.displayName ?? `PC ${peer.slice(-5)}`

export const clusterName = (index: number): string =>
  index < 26 ? `Cluster ${String.fromCharCode(65 + index)}` : `Cluster ${index + 1}`

export const layersInWords = ([from, to]: readonly [number, number]): string =>
  to - from === 1 ? `layer ${from + 1}` : `layers ${from + 1}–${to}`

/** The stage that sets the pace of its cluster: clearly slower than each other one. */
export function slowestOf(stages: readonly StagePlan[]): string | undefined {
  if (stages.length < 2) return undefined
  const [first, second] = [...stages].sort((a, b) => b.secondsPerMicroBatch - a.secondsPerMicroBatch)
  if (first === undefined || second === undefined) return undefined
  return first.secondsPerMicroBatch > 1.15 * second.secondsPerMicroBatch ? first.peer : undefined
}

interface Status {
  readonly tone: StageTone
  readonly status: string
  readonly short: string
}

/** States in which a peer does nothing, the word for them, and how the picture marks them. */
const resting: Partial<Record<MemberView['state'], readonly [StageTone, string]>> = {
  lost: ['lost', 'lost'],
  idle: ['waits', 'waits'],
  paused: ['waits', 'paused'],
}

/** What a peer at work uses; where it is not known, its state. */
function useOf({ busyShare, peakTensorBytes, state }: MemberView): Status {
  const busy = busyShare > 0 ? `busy ${percent(busyShare)}` : ''
  const held = peakTensorBytes > 0 ? memory(peakTensorBytes) : ''
  const use = [busy, held].filter((part) => part !== '').join(' · ')
  return { tone: 'plain', status: use === '' ? state : use, short: busy === '' ? state : busy }
}

function statusOf(member: MemberView | undefined, slow: boolean): Status {
  const rests = member && resting[member.state]
  if (rests !== undefined) {
    const [tone, word] = rests
    return { tone, status: member?.reason === '' ? word : `${word}: ${member?.reason ?? ''}`, short: word }
  }
  if (slow) return { tone: 'slow', status: 'slowest here', short: 'slowest' }
  return member === undefined ? { tone: 'plain', status: '', short: '' } : useOf(member)
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

/** The picture in sentences, for people who hear it. */
export function poolInWords(view: PoolView): string {
  const { clusters, rings } = layPool(view)
  const rows = clusters.map(({ name, stages }) => {
    const said = stages.map(({ name: pc, me, layers, status }) => {
      const aside = [me ? 'this PC' : '', layers, status].filter((part) => part !== '').join(', ')
      return `${pc} (${aside})`
    })
    return `${name}: ${said.join(', then ')}.`
  })
  const mine = view.plan.layout.rings.flatMap(({ members }, index) =>
    members.includes(view.self) ? [index + 1] : [],
  )
  const ringWords =
    rings.length === 0
      ? 'One cluster: nothing to average.'
      : `${view.plan.layout.rings.length} rings join the PCs that hold the same layers${mine.length === 0 ? '' : `; this PC is in ${mine.length === 1 ? 'ring' : 'rings'} ${mine.join(', ')}`}.`
  return `${clusters.length === 1 ? 'One cluster' : `${clusters.length} clusters`}. ${rows.join(' ')} ${ringWords}`
}

/** A text that fits so many units at a font size, cut with an ellipsis; nothing where three characters do not fit. */
export function fit(text: string, room: number, fontSize: number): string {
  const most = Math.floor(room / (fontSize * 0.6))
  if (most < 3 && text.length > most) return ''
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1)).trimEnd()}…`
}
