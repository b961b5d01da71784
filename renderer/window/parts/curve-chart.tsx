/** Loss and validation over updates, drawn by uPlot with the window's colours and text size; log y where it can be. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { JobView } from '../../../shared/messages/control.ts'
import { columnsOf, curveInWords, logTicks, lossWords } from '../words/curve.ts'
import type { CurveColumns } from '../words/curve.ts'
import { count } from '../words/numbers.ts'

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Canvas knows no `light-dark()`: let an element resolve it. */
function colour(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const dataOf = ({ x, loss, validation }: CurveColumns): uPlot.AlignedData => [x, loss, validation]

function ends(columns: CurveColumns): [number, number] {
  const values = [...columns.loss, ...columns.validation].filter((value) => value !== null)
  return values.length === 0 ? [1, 10] : [Math.min(...values), Math.max(...values)]
}

/** Pixels of one rem, so that the plot grows with the reader's text. */
const rem = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize)

function axis(size: number, extra: Partial<uPlot.Axis>): uPlot.Axis {
  const pixels = rem() * 0.75
  return {
    stroke: colour('--ink-3'),
    font: `${pixels}px ${token('--font')}`,
    size,
    gap: 4,
    ticks: { show: false },
    ...extra,
  }
}

function logScale(ticks: readonly number[]): uPlot.Scale {
  return {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- logarithmic: uPlot's enum is ambient and const, which single-file compilers cannot name
    distr: 3,
    range: [ticks[0] ?? 1, ticks.at(-1) ?? 10],
  }
}

const markWords = (mark: number): string => String(Number(mark.toPrecision(3)))

function optionsOf(columns: CurveColumns, width: number): uPlot.Options {
  const [least, greatest] = ends(columns)
  const log = least > 0
  const ticks = log ? logTicks(least, greatest) : []
  const longest = Math.max(3, ...ticks.map((tick) => markWords(tick).length))
  return {
    width,
    height: 10 * rem(),
    padding: [8, 12, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, __, last) => [0, Math.max(1, last)] },
      y: log ? logScale(ticks) : {},
    },
    axes: [
      axis(1.5 * rem(), {
        grid: { show: false },
        border: { show: true, stroke: colour('--edge'), width: 1 },
        space: 5 * rem(),
        values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? count(mark) : '')),
      }),
      axis((0.5 + 0.5 * longest) * rem(), {
        grid: { stroke: colour('--line'), width: 1 },
        ...(log ? { splits: () => ticks, filter: (_: uPlot, marks: number[]) => marks } : {}),
        values: (_, marks) => marks.map(markWords),
      }),
    ],
    series: [
      {},
      { stroke: colour('--accent'), width: 1.75, points: { show: columns.x.length < 3 }, spanGaps: true },
      {
        stroke: colour('--ink'),
        width: 1.5,
        dash: [5, 4],
        spanGaps: true,
        points: { show: true, size: 6, stroke: colour('--ink'), fill: colour('--card'), width: 1.5 },
      },
    ],
  }
}

function Legend({ job }: { readonly job: JobView }): JSX.Element {
  const loss = job.trainingCurve.at(-1)
  const validation = job.validationCurve.at(-1)
  return (
    <div class="legend">
      {loss === undefined ? null : (
        <span>
          <svg class="chart" viewBox="0 0 24 12" aria-hidden="true">
            <path class="loss" d="M0 6 H24" />
          </svg>
          Loss <b>{lossWords(loss.loss)}</b>
        </span>
      )}
      {validation === undefined ? null : (
        <span>
          <svg class="chart" viewBox="0 0 24 12" aria-hidden="true">
            <path class="valid" d="M0 6 H24" />
            <circle class="valid-pt" cx="12" cy="6" r="2.5" />
          </svg>
          Validation <b>{lossWords(validation.scores.loss)}</b>
        </span>
      )}
      <span class="faint">over updates</span>
    </div>
  )
}

/** A new plot whenever the colours or the width change; new data goes into the plot that is there. */
export function CurveChart({ job, theme }: { readonly job: JobView; readonly theme: string }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const last = `${job.updates}/${job.trainingCurve.length}/${job.validationCurve.length}`
  useEffect(() => {
    const home = box.current
    if (home === null) return undefined
    let plot: uPlot | undefined
    const draw = () => {
      plot?.destroy()
      const columns = columnsOf(job)
      plot = new uPlot(optionsOf(columns, Math.max(200, home.clientWidth)), dataOf(columns), home)
    }
    const watcher = new ResizeObserver(draw)
    const schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) =>
      matchMedia(query),
    )
    watcher.observe(home)
    for (const scheme of schemes) scheme.addEventListener('change', draw)
    return () => {
      watcher.disconnect()
      for (const scheme of schemes) scheme.removeEventListener('change', draw)
      plot?.destroy()
    }
    // The job object is new with every snapshot; only new points are worth a new plot.
  }, [last, theme])
  return (
    <section class="card">
      <div class="top">
        <h2>Loss</h2>
        <Legend job={job} />
      </div>
      <div class="plot" role="img" aria-label={curveInWords(job)} ref={box} />
    </section>
  )
}
