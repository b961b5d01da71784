/** A paper's table beside ours. */

export interface Row {
  readonly what: string
  /** As published, or as a reference has it; undefined: there is none, ours is shown alone. */
  readonly published: number | undefined
  readonly ours: number
  /** Greatest difference from the published figure, as a share of it; undefined: shown, but no promise. */
  readonly within?: number
  /** It need only be as good: at most this figure. */
  readonly atMost?: number
}

export interface Reproduction {
  readonly title: string
  readonly source: string
  readonly rows: readonly Row[]
  /** What a reader has to know beside the figures. */
  readonly notes: readonly string[]
}

/** Whether a row keeps its promise; undefined where it makes none. */
export function holds({ published, ours, within, atMost }: Row): boolean | undefined {
  if (atMost !== undefined) return ours <= atMost
  if (published === undefined || within === undefined) return undefined
  // What rounding left of equal figures is no difference.
  return Math.abs(ours - published) <= within * Math.abs(published) + 1e-12
}

const shown = (value: number | undefined) => (value === undefined ? '' : String(Number(value.toPrecision(5))))
const percent = (share: number) => `${share >= 0 ? '+' : '−'}${(100 * Math.abs(share)).toFixed(2)} %`

function difference({ published, ours }: Row): string {
  return published === undefined || published === 0 ? '' : percent(ours / published - 1)
}

const verdicts = { true: 'holds', false: 'DOES NOT HOLD', undefined: '' } as const

/** For people: columns for what, published, ours, the difference and whether it holds. */
export function inText({ title, source, rows, notes }: Reproduction): string {
  const head = ['', 'published', 'ours', 'difference', '']
  const lines = rows.map((row) => [
    row.what,
    shown(row.published),
    shown(row.ours),
    difference(row),
    verdicts[`${holds(row)}`],
  ])
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...lines.map((line) => (line[column] ?? '').length)),
  )
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [title, source, '', lineOf(head), ...lines.map(lineOf), '', ...notes].join('\n')
}
