/** Bytes as a person reads them. */
import type { Bytes } from '../../../shared/units.ts'

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Of traffic, for example `1.5 MB`: decimal, at most three digits, never rounded up to the next unit's 1000. */
export const inUnits = (bytes: Bytes): string => scaled(bytes, 1000)

/** Of memory: binary, as systems show it and people set it. */
export const memoryInUnits = (bytes: Bytes): string => scaled(bytes, 1024)

function scaled(bytes: Bytes, base: number): string {
  let value = bytes
  let unit = 0
  while (value >= base - 0.5 && unit < units.length - 1) {
    value /= base
    unit++
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${Number(value.toFixed(digits))} ${units[unit] ?? ''}`
}
