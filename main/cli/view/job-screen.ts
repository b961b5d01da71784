/** The live view of a job: one pure picture of a snapshot, at any width, with or without colour. */
import type { JobView } from '../../../shared/messages/control.ts'
import { lineChart } from './chart.ts'
import { clusterRows, idleRows } from './cluster-rows.ts'
import { bothEnds, columnRight, cut, harmless } from './columns.ts'
import {
  formatCount,
  formatDone,
  formatDuration,
  formatDurationRange,
  formatLoss,
  formatRate,
  formatShare,
} from './numbers.ts'
import type { Paint } from './paint.ts'

export interface ScreenStyle {
  readonly columns: number
  readonly rows: number
  readonly paint: Paint
  /** What the last line says, for example how to stop. */
  readonly hint: string
}

const chartRows = 5
const chartLabelColumns = 8

function progressBar(share: number, style: ScreenStyle): string {
  const width = style.columns
  const done = Math.round(Math.min(1, Math.max(0, share)) * width)
  return style.paint('good', '━'.repeat(done)) + style.paint('faint', '╌'.repeat(width - done))
}

const stalledWords = ({ stalledForSeconds }: JobView): string =>
  stalledForSeconds === undefined ? '' : `stalled for ${formatDuration(stalledForSeconds)}`

function progressLines(job: JobView, style: ScreenStyle): string[] {
  const share = job.targetUpdates > 0 ? job.updates / job.targetUpdates : 0
  const left = job.secondsLeft === null ? stalledWords(job) : `${formatDurationRange(job.secondsLeft)} left`
  const made = `${formatCount(job.updates)} of ${formatCount(job.targetUpdates)} updates, ${formatDone(share)}`
  return [progressBar(share, style), bothEnds(made, left, style.columns)]
}

function measureLine(job: JobView, style: ScreenStyle): string {
  const loss = job.trainingCurve.at(-1)
  const validation = job.validationCurve.at(-1)
  const parts = [
    loss === undefined ? '' : `loss ${style.paint('title', formatLoss(loss.loss))}`,
    validation === undefined
      ? ''
      : `validation ${formatLoss(validation.scores.loss)}, ${formatShare(validation.scores.accuracy, 1)}`,
    job.samplesPerSecond > 0 ? formatRate(job.samplesPerSecond) : '',
    job.samples > 0 ? `${formatCount(job.samples)} samples` : '',
  ]
  return parts.filter((part) => part !== '').join('  ·  ')
}

/** The loss against updates, its highest and lowest mean at the left. */
function lossChart(job: JobView, style: Pick<ScreenStyle, 'columns' | 'paint'>): string[] {
  const points = job.trainingCurve.map(({ updates, loss }) => ({ x: updates, y: loss }))
  if (points.length < 2) return []
  const chart = lineChart(points, { width: style.columns - chartLabelColumns - 3, height: chartRows })
  if (chart === undefined) return []
  return chart.rows.map((row, index) => {
    const label =
      index === 0 ? formatLoss(chart.top) : index === chartRows - 1 ? formatLoss(chart.bottom) : ''
    return `${style.paint('faint', `${columnRight(label, chartLabelColumns)} ┤`)} ${style.paint('accent', row)}`
  })
}

/** No more rows than there is room for; the rest is counted. */
function fitRows(rows: readonly string[], room: number, paint: Paint): string[] {
  if (rows.length <= room) return [...rows]
  const shown = Math.max(0, room - 1)
  return [...rows.slice(0, shown), paint('faint', `  … and ${rows.length - shown} more`)]
}

function peerRows(job: JobView, style: ScreenStyle): string[] {
  const layout = job.plan?.layout
  const placed =
    layout === undefined || job.plan === null
      ? []
      : clusterRows(layout, job.members, { ...style, active: job.plan.active })
  const idle = idleRows(layout, job.members, style)
  if (idle.length === 0) return placed
  return [...placed, style.paint('title', layout === undefined ? 'peers' : 'in no cluster'), ...idle]
}

/** Something was made, or is about to be: a new plan in the middle of a run keeps what there is. */
const isUnderWay = ({ updates, phase }: JobView): boolean =>
  updates > 0 || (phase !== 'gathering' && phase !== 'planning')

/** The whole picture; lines are at most `columns` wide and there are fewer than `rows` of them. */
export function jobScreen(job: JobView, style: ScreenStyle): string {
  const name = style.paint('title', cut(harmless(job.name), style.columns - 24))
  const head = [
    bothEnds(name, style.paint('accent', `${job.role} · ${job.phase}`), style.columns),
    ...(isUnderWay(job) ? progressLines(job, style) : []),
    ...(job.text === '' ? [] : [style.paint('faint', cut(harmless(job.text), style.columns))]),
  ]
  const measures = measureLine(job, style)
  const chart = lossChart(job, style)
  const foot = style.hint === '' ? [] : ['', style.paint('faint', cut(style.hint, style.columns))]
  const fixed = head.length + foot.length + (measures === '' ? 0 : 2)
  const withChart = chart.length > 0 && style.rows - fixed - chartRows >= 6
  const room = Math.max(2, style.rows - fixed - (withChart ? chartRows : 0) - 2)
  return [
    ...head,
    ...(measures === '' ? [] : ['', measures]),
    ...(withChart ? chart : []),
    '',
    ...fitRows(peerRows(job, style), room, style.paint),
    ...foot,
  ]
    .map((line) => cut(line, style.columns))
    .join('\n')
}
