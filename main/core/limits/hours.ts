/** The week that an owner agreed to: which minutes of it are open, and how long until the next. */
import type { Conditions, Limits } from '../../../shared/limits.ts'

/** Monday to Sunday; spans [from, to) in minutes of the day. */
export type Week = NonNullable<Limits['hours']>
type Moment = Pick<Conditions, 'weekday' | 'minuteOfDay'>

const minutesOfDay = 1440
const minutesOfWeek = 7 * minutesOfDay

/** Open minutes of a day, from its spans in any order, overlapping or not. */
function isOpen(week: Week, { weekday, minuteOfDay }: Moment): boolean {
  return (week[weekday] ?? []).some(([from, to]) => minuteOfDay >= from && minuteOfDay < to)
}

function isWhole(day: Week[number]): boolean {
  let open = 0
  for (const [from, to] of day.toSorted(([a], [b]) => a - b)) if (from <= open) open = Math.max(open, to)
  return open === minutesOfDay
}

/** The week that limits anything: absent when none was set, or when every minute of it is open. */
export function hoursInForce(hours: Week | undefined): Week | undefined {
  return hours === undefined || hours.every(isWhole) ? undefined : hours
}

/** 0 when this minute is open; undefined when none of the week is. */
export function minutesUntilAllowed(week: Week, now: Moment): number | undefined {
  if (isOpen(week, now)) return 0
  const at = now.weekday * minutesOfDay + now.minuteOfDay
  const waits = week.flatMap((day, weekday) =>
    day.map(([from]) => (weekday * minutesOfDay + from - at + minutesOfWeek) % minutesOfWeek),
  )
  return waits.length === 0 ? undefined : Math.min(...waits)
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** The spans of one day, for example `18:00–23:30`. */
export function describeHours(week: Week, weekday: number): string {
  return (week[weekday] ?? []).map(([from, to]) => `${clock(from)}–${clock(to)}`).join(', ')
}
