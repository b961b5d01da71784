/** Bytes as a person reads them. */
import type { Bytes } from '../../../shared/units.ts'

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** For example `1.5 MB`: decimal, at most three digits, never rounded up to the next unit's 1000. */
export function inUnits(bytes: Bytes): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${Number(value.toFixed(digits))} ${units[unit] ?? ''}`
}
