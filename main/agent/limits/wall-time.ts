/** The time on the wall of this PC. */
import type { WallTime } from '../../core/limits/keeper.ts'

export function wallTime(): WallTime {
  const now = new Date()
  // JavaScript's week begins on Sunday, ours on Monday.
  const weekday = (now.getDay() + 6) % 7
  return { epochMs: now.getTime(), weekday, minuteOfDay: now.getHours() * 60 + now.getMinutes() }
}

/** For example `2026-11-29`. */
export function localDay(): string {
  const now = new Date()
  const part = (value: number) => String(value).padStart(2, '0')
  return `${now.getFullYear()}-${part(now.getMonth() + 1)}-${part(now.getDate())}`
}
