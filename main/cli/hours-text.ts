/** The hours of a week as people write them: `mon-fri 18:00-23:30, sat+sun 00:00-24:00`. */
import { InvalidInputError } from '../../shared/errors.ts'
import type { Limits } from '../../shared/limits.ts'

type Week = NonNullable<Limits['hours']>
type Span = Week[number][number]

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const endOfDay = 1440
const example = 'write for example "mon-fri 18:00-23:30, sat+sun 8:00-24:00", or "always"'

const wrong = (text: string) => new InvalidInputError(`hours: "${text}" is not understood: ${example}`)

function dayOf(name: string, entry: string): number {
  const day = dayNames.findIndex((known) => name.startsWith(known))
  if (day < 0) throw wrong(entry)
  return day
}

/** `daily`, `mon`, `mon-fri`, `sat+sun`; a run may go over the end of the week. */
function daysOf(text: string, entry: string): readonly number[] {
  if (text === 'daily') return dayNames.map((_, day) => day)
  return text.split('+').flatMap((part) => {
    const [first = '', last = first, ...more] = part.split('-')
    if (more.length > 0) throw wrong(entry)
    const [from, to] = [dayOf(first, entry), dayOf(last, entry)]
    return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, step) => (from + step) % 7)
  })
}

function minuteOf(text: string, entry: string): number {
  const [, hours, minutes = '0'] = /^(\d{1,2})(?::(\d{2}))?$/.exec(text) ?? []
  const minute = Number(hours) * 60 + Number(minutes)
  if (hours === undefined || Number(minutes) > 59 || minute > endOfDay) throw wrong(entry)
  return minute
}

/** Joined where they touch, so that what is written is what is shown. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = []
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

/** One entry, `mon-fri 18:00-23:30`, as its days and its hours. */
function readEntry(entry: string): {
  readonly days: readonly number[]
  readonly from: number
  readonly to: number
} {
  const [days = '', hours = '', ...more] = entry.split(/\s+/)
  const [start = '', end = '', ...rest] = hours.split('-')
  if (more.length + rest.length > 0) throw wrong(entry)
  return { days: daysOf(days, entry), from: minuteOf(start, entry), to: minuteOf(end, entry) }
}

/** Spans of one day and of the day after: an evening that ends after midnight is two. */
function spansOf(from: number, to: number): readonly [Span[], Span[]] {
  if (from < to) return [[[from, to]], []]
  return [from < endOfDay ? [[from, endOfDay]] : [], to > 0 ? [[0, to]] : []]
}

/** `always` and the like are whole days. @throws InvalidInputError */
export function parseHours(text: string): Week {
  const wanted = text.trim().toLowerCase()
  if (['always', 'all', 'off', 'none'].includes(wanted)) return dayNames.map(() => [[0, endOfDay]])
  const week: Span[][] = dayNames.map(() => [])
  for (const entry of wanted.split(',')) {
    const { days, from, to } = readEntry(entry.trim())
    const [tonight, tomorrow] = spansOf(from, to)
    for (const day of days) {
      week[day]?.push(...tonight.map(([start, end]): Span => [start, end]))
      week[(day + 1) % 7]?.push(...tomorrow.map(([start, end]): Span => [start, end]))
    }
  }
  return week.map(joined)
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** The same text back: days of equal hours together. */
export function formatHours(hours: Limits['hours']): string {
  if (hours === undefined) return 'always'
  const texts = hours.map((day) => day.map(([from, to]) => `${clock(from)}-${clock(to)}`))
  const byHours = new Map<string, string[]>()
  for (const [day, spans] of texts.entries())
    for (const span of spans) byHours.set(span, [...(byHours.get(span) ?? []), dayNames[day] ?? ''])
  const entries = [...byHours].map(
    ([span, days]) => `${days.length === 7 ? 'daily' : days.join('+')} ${span}`,
  )
  return entries.length === 0 ? 'never' : entries.join(', ')
}
