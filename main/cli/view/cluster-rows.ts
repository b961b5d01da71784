/** The clusters of a plan as rows of stages: who holds which layers and how it does. */
import type { MemberView } from '../../../shared/messages/control.ts'
import type { ClusterPlan, Layout } from '../../../shared/plan/plan.ts'
import { clusterName, layersInWords } from '../../../shared/plan/words.ts'
import { column, columnRight, cut, harmless } from './columns.ts'
import { formatBytes, formatRate, formatShare } from './numbers.ts'
import type { Paint, Tone } from './paint.ts'

const tones: Record<MemberView['state'], Tone> = {
  joined: 'faint',
  preparing: 'warn',
  ready: 'accent',
  training: 'good',
  paused: 'warn',
  finished: 'good',
  idle: 'warn',
  lost: 'bad',
}

const layerBarColumns = 12
/** Everything of a row but the name: see the widths in `stageRow`. */
const fixedColumns = 62

/** What busy share and memory take, and a reason may. */
const reasonColumns = 21

const nameColumns = (columns: number): number => Math.min(28, Math.max(8, columns - fixedColumns))

/** `░░███░░░` where a stage lies in the model. */
function layerBar(layers: readonly [number, number], layerCount: number): string {
  const place = (layer: number): number => Math.round((layer / Math.max(1, layerCount)) * layerBarColumns)
  const from = Math.min(place(layers[0]), layerBarColumns - 1)
  const to = Math.max(place(layers[1]), from + 1)
  return '░'.repeat(from) + '█'.repeat(to - from) + '░'.repeat(layerBarColumns - to)
}

const layerCountOf = (layout: Layout): number =>
  Math.max(...layout.clusters.flatMap(({ stages }) => stages.map(({ layers }) => layers[1])))

const nameOf = (peer: string, member: MemberView | undefined): string => {
  const name = harmless(member?.displayName ?? '')
  return name === '' ? harmless(peer) : name
}

interface RowStyle {
  readonly columns: number
  readonly paint: Paint
}

/** What a peer does at present, in the columns right of its layers. */
function doing(member: MemberView, { columns, paint }: RowStyle): string {
  const state = paint(tones[member.state], column(member.state, 9))
  const room = columns - nameColumns(columns) - fixedColumns + reasonColumns
  if (member.reason !== '' && member.state !== 'training')
    return `${state} ${paint('faint', cut(harmless(member.reason), room))}`
  const busy = member.updates > 0 ? `${formatShare(member.busyShare)} busy` : ''
  const memory = member.peakTensorBytes > 0 ? formatBytes(member.peakTensorBytes) : ''
  return `${state} ${columnRight(busy, 10)} ${columnRight(memory, 9)}`
}

/** What the plan expects of a peer, where there is no peer yet. */
function planned({ memoryBytes, secondsPerMicroBatch }: ClusterPlan['stages'][number]): string {
  const milliseconds = secondsPerMicroBatch * 1000
  const time =
    milliseconds < 1000 ? `${milliseconds.toPrecision(3)} ms` : `${secondsPerMicroBatch.toFixed(1)} s`
  return `${columnRight(formatBytes(memoryBytes), 9)} ${columnRight(time, 9)} a batch`
}

function stageRow(
  stage: ClusterPlan['stages'][number],
  member: MemberView | undefined,
  style: RowStyle & { readonly layerCount: number },
): string {
  const bar = style.paint('accent', layerBar(stage.layers, style.layerCount))
  const name = column(nameOf(stage.peer, member), nameColumns(style.columns))
  const rest = member === undefined ? planned(stage) : doing(member, style)
  return `  ${name} ${bar} ${column(layersInWords(stage.layers), 14)} ${rest}`.trimEnd()
}

/** `, int8 and fp32 between its stages`: how values travel, border by border, where the plan says so. */
function codecsInWords({ stages }: ClusterPlan): string {
  const codecs = stages.flatMap(({ codec }) => codec ?? [])
  if (codecs.length === 0) return ''
  const words = new Set(codecs).size === 1 ? codecs.slice(0, 1) : codecs
  return `, ${words.join(', ')} between its stages`
}

/** A heading and a row a stage, cluster after cluster. */
export function clusterRows(
  layout: Layout,
  members: readonly MemberView[],
  style: RowStyle & { readonly active?: readonly number[] },
): string[] {
  const layerCount = layerCountOf(layout)
  const byPeer = new Map(members.map((member) => [member.peer, member]))
  return layout.clusters.flatMap((cluster, index) => {
    const stands = style.active !== undefined && !style.active.includes(index)
    const rate = stands
      ? style.paint('warn', 'does not train at present')
      : style.paint('faint', `${formatRate(cluster.samplesPerSecond)}${codecsInWords(cluster)}`)
    return [
      `${style.paint('title', clusterName(index))}  ${rate}`,
      ...cluster.stages.map((stage) => stageRow(stage, byPeer.get(stage.peer), { ...style, layerCount })),
    ]
  })
}

/** Peers in no cluster, one a row, with the reason. */
export function idleRows(
  layout: Layout | undefined,
  members: readonly MemberView[],
  style: RowStyle,
): string[] {
  const placed = new Set(layout?.clusters.flatMap(({ stages }) => stages.map(({ peer }) => peer)))
  const reasons = new Map(layout?.unused.map(({ peer, reason }) => [peer, reason]))
  return members
    .filter(({ peer }) => !placed.has(peer))
    .map((member) => {
      const reason = harmless(member.reason === '' ? (reasons.get(member.peer) ?? '') : member.reason)
      const name = column(nameOf(member.peer, member), nameColumns(style.columns))
      const state = style.paint(tones[member.state], column(member.state, 9))
      const rest = style.columns - nameColumns(style.columns) - 14
      return `  ${name} ${state} ${style.paint('faint', cut(reason, rest))}`.trimEnd()
    })
}
