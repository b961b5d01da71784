/** Numbers as people read them: a unit, a range, a no-break space before the unit, none before %. */
import { gibibyte } from '../../../shared/units.ts'
import type { Bytes, BytesPerSecond, Millis, Seconds } from '../../../shared/units.ts'

const gap = '\u00a0'
/** An en dash after which no line ends. */
const dash = '–\u2060'
const grouped = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const whole = (value: number): string => grouped.format(Math.round(value))

/** 17812 → "17,812". */
export const count = (value: number): string => whole(value)

/** Three digits that count: 0.32, 4.1, 20.4, 412. */
export function few(value: number): string {
  if (value < 0) return `−${few(-value)}`
  if (value === 0) return '0'
  if (value < 0.001) return '<0.001'
  if (value < 1) return value.toPrecision(2).replace(/\.?0+$/, '')
  return value < 100 ? value.toFixed(1).replace(/\.0$/, '') : whole(value)
}

/** A share of 1 as "40%". Nothing is called 100% before it is all done. */
export const percent = (share: number): string =>
  `${Math.round(share >= 1 ? 100 : Math.min(99, Math.max(0, share) * 100))}%`

/** Two digits that count, for what is only estimated: 0.32, 4.2, 29, 410. */
export const rough = (value: number): string => few(Number(value.toPrecision(2)))

/** 6489600 → "6.5 million"; below a million the number itself. */
export function inMillions(value: number): string {
  if (value < 1e6) return count(value)
  return value < 1e9 ? `${few(value / 1e6)}${gap}million` : `${few(value / 1e9)}${gap}billion`
}

const scales = ['B', 'kB', 'MB', 'GB', 'TB'] as const

function scaled(value: number, base: number, say = few): string {
  let scale = 0
  let left = Math.max(0, value)
  while (left >= base && scale < scales.length - 1) {
    left /= base
    scale++
  }
  return `${say(left)}${gap}${scales[scale] ?? 'TB'}`
}

/** Of traffic and files: decimal, as networks count. */
export const bytes = (value: Bytes): string => scaled(value, 1000)
/** Of traffic that is only estimated. */
export const roughBytes = (value: Bytes): string => scaled(value, 1000, rough)
/** Of memory: binary, as systems show it. */
export const memory = (value: Bytes): string => scaled(value, 1024)
export const bytesPerSecond = (value: BytesPerSecond): string => `${scaled(value, 1000)}/s`
export const gibibytes = (value: Bytes): number => Math.round((value / gibibyte) * 100) / 100
export const samplesPerSecond = (value: number): string => `${few(value)}${gap}samples/s`

const larger: readonly (readonly [seconds: number, unit: string, smaller: number, smallerUnit: string])[] = [
  [86_400, 'd', 3600, 'h'],
  [3600, 'h', 60, 'min'],
]

/** "38 s", "12 min", "2 h 10 min", "3 d 4 h". */
export function duration(seconds: Seconds): string {
  const rounded = Math.max(0, Math.round(seconds))
  if (rounded < 100) return `${rounded}${gap}s`
  for (const [size, unit, smaller, smallerUnit] of larger) {
    if (rounded < size) continue
    const rest = Math.floor((rounded % size) / smaller)
    const head = `${Math.floor(rounded / size)}${gap}${unit}`
    return rest === 0 ? head : `${head} ${rest}${gap}${smallerUnit}`
  }
  return `${Math.round(rounded / 60)}${gap}min`
}

/** What an estimate is rounded to, by its size. */
const steps: readonly (readonly [below: Seconds, step: Seconds])[] = [
  [60, 5],
  [600, 60],
  [3600, 300],
  [36_000, 600],
  [172_800, 3600],
  [864_000, 21_600],
]

/** A time that is only estimated: "5 s", "25 min", "2 h 10 min", "15 h", "3 d 6 h". */
export function roughDuration(seconds: Seconds): string {
  const [, step] = steps.find(([below]) => seconds < below) ?? [0, 86_400]
  return duration(seconds <= 0 ? 0 : Math.max(step, Math.round(seconds / step) * step))
}

/** Ends that read the same are one. */
export function range([low, high]: readonly [number, number], say: (value: number) => string): string {
  const [from, to] = [say(low), say(high)]
  if (from === to) return from
  const [head, tail] = [from.split(gap), to.split(gap)]
  if (head.length !== tail.length || head.length === 1 || head.at(-1) !== tail.at(-1))
    return head.length === 1 && tail.length === 1 ? `${from}${dash}${to}` : `${from} – ${to}`
  const bare = head.slice(0, -1).join(gap)
  return head.length === 2 ? `${bare}${dash}${to}` : `${bare} – ${to}`
}

/** A time that is only estimated, low and high. */
export function timeRange([low, high]: readonly [Seconds, Seconds]): string {
  // So far apart, the low end says nothing.
  return low * 20 < high ? `at most ${roughDuration(high)}` : range([low, high], roughDuration)
}

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long' })

/** "21:44". */
export const clock = (at: Millis): string => time.format(at)

/** "21:44" today, "Monday, 07:00" this week, else the date. */
export function moment(at: Millis, now: Millis): string {
  if (new Date(at).toDateString() === new Date(now).toDateString()) return clock(at)
  const days = Math.abs(at - now) / 86_400_000
  return days < 6 ? `${weekday.format(at)}, ${clock(at)}` : date.format(at)
}
