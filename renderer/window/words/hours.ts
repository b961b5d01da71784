/** The hours of the week in which this PC may train: day by day, as a person sets and reads them. */
import type { Limits } from '../../../shared/limits.ts'

export type Span = [from: number, to: number]
export type Hours = NonNullable<Limits['hours']>

/** One day as the editor shows it. `from` may lie after `to`: then the night is meant, 00:00 to `to` and `from` to 24:00. */
export type DayRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'never' }
  | { readonly kind: 'span'; readonly from: number; readonly to: number }
  /** Set elsewhere, with more spans than this editor draws; kept as it is. */
  | { readonly kind: 'several'; readonly spans: Span[] }

export const dayNames = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const
const short = dayNames.map((name) => name.slice(0, 3))
const endOfDay = 1440

export function ruleOf(spans: readonly Span[]): DayRule {
  const [first, second] = spans
  if (first === undefined) return { kind: 'never' }
  if (second === undefined)
    return first[0] === 0 && first[1] === endOfDay
      ? { kind: 'all' }
      : { kind: 'span', from: first[0], to: first[1] }
  if (spans.length === 2 && first[0] === 0 && second[1] === endOfDay)
    return { kind: 'span', from: second[0], to: first[1] }
  return { kind: 'several', spans: spans.map(([from, to]): Span => [from, to]) }
}

export function spansOf(rule: DayRule): Span[] {
  if (rule.kind === 'all') return [[0, endOfDay]]
  if (rule.kind === 'never') return []
  if (rule.kind === 'several') return rule.spans
  if (rule.from < rule.to) return [[rule.from, rule.to]]
  // Equal ends leave no minute out.
  const night: Span[] = [
    [0, rule.to],
    [rule.from, endOfDay],
  ]
  return rule.from === rule.to ? [[0, endOfDay]] : night.filter(([from, to]) => from < to)
}

/** 1260 → "21:00". Midnight at the end of the day is "24:00". */
export const minutesAsTime = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** "21:00" → 1260, "7:05" → 425; undefined for anything else. */
export function timeAsMinutes(text: string): number | undefined {
  const read = /^(\d{1,2}):([0-5]\d)$/.exec(text.trim())
  if (read === null) return undefined
  const minutes = Number(read[1]) * 60 + Number(read[2])
  return minutes <= endOfDay ? minutes : undefined
}

function ruleInWords(rule: DayRule): string {
  if (rule.kind === 'all') return 'all day'
  if (rule.kind === 'never') return 'not at all'
  if (rule.kind === 'span') return `${minutesAsTime(rule.from)} – ${minutesAsTime(rule.to)}`
  return rule.spans.map(([from, to]) => `${minutesAsTime(from)} – ${minutesAsTime(to)}`).join(', ')
}

export interface DayGroup {
  readonly days: string
  readonly spans: readonly Span[]
  readonly words: string
}

/** Neighbouring days with the same hours share a line: "Mon–Thu". */
export function groupDays(hours: Hours): DayGroup[] {
  const groups: { from: number; to: number; spans: readonly Span[] }[] = []
  hours.forEach((spans, day) => {
    const last = groups.at(-1)
    if (last !== undefined && JSON.stringify(last.spans) === JSON.stringify(spans)) last.to = day
    else groups.push({ from: day, to: day, spans })
  })
  return groups.map(({ from, to, spans }) => ({
    days: from === to ? (short[from] ?? '') : `${short[from] ?? ''}–${short[to] ?? ''}`,
    spans,
    words: ruleInWords(ruleOf(spans)),
  }))
}
