/** Numbers as people read them: short, with their unit, and never more digits than they deserve. */
import type { Bytes, Seconds } from '../../../shared/units.ts'

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** `1,234` · `12,345` · `1.2 M` */
export function formatCount(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} G`
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`
  return grouped.format(value)
}

/** `0.8 samples/s` · `1,234 samples/s` */
export function formatRate(samplesPerSecond: number): string {
  const value = samplesPerSecond < 10 ? samplesPerSecond.toFixed(1) : formatCount(samplesPerSecond)
  return `${value} samples/s`
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
const trafficUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** `512 B` · `12.3 MiB` */
export const formatBytes = (bytes: Bytes): string => scaled(bytes, 1024, byteUnits)

/** `1.0 MB`, as people set caps: decimal, as networks count. */
export const formatTraffic = (bytes: Bytes): string => scaled(bytes, 1000, trafficUnits)

function scaled(bytes: Bytes, base: number, units: readonly string[]): string {
  let value = bytes
  let unit = 0
  while (value >= base - 0.05 && unit < units.length - 1) {
    value /= base
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${value.toFixed(digits)} ${units[unit] ?? ''}`
}

/** `12.4 GFLOP/s` */
export function formatFlops(flopsPerSecond: number): string {
  if (flopsPerSecond >= 1e12) return `${(flopsPerSecond / 1e12).toFixed(1)} TFLOP/s`
  if (flopsPerSecond >= 1e9) return `${(flopsPerSecond / 1e9).toFixed(1)} GFLOP/s`
  return `${(flopsPerSecond / 1e6).toFixed(1)} MFLOP/s`
}

/** `42 s` · `3 min` · `2 h 10 min` · `3 d 4 h` */
export function formatDuration(seconds: Seconds): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 100) return `${whole} s`
  const minutes = Math.round(whole / 60)
  if (minutes < 100) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `12–15 s` · `90 s – 3 min` · `42 s` */
export const formatDurationRange = (range: readonly [low: Seconds, high: Seconds]): string =>
  formatRange(range, formatDuration)

/** The unit once where both ends have it. */
export function formatRange(
  range: readonly [low: number, high: number],
  format: (value: number) => string,
): string {
  const [low, high] = [format(range[0]), format(range[1])]
  if (low === high) return low
  const [lowValue, lowUnit, ...lowMore] = low.split(' ')
  const [, highUnit, ...highMore] = high.split(' ')
  const sameUnit = lowUnit === highUnit && lowMore.length === 0 && highMore.length === 0
  return sameUnit ? `${lowValue ?? ''}–${high}` : `${low} – ${high}`
}

/** `83%` of a share of 0.83. */
export function formatShare(share: number, digits = 0): string {
  return `${(share * 100).toFixed(digits)}%`
}

/** What is done of a whole: 100% only when all of it is. */
export const formatDone = (share: number): string => formatShare(Math.floor(share * 100) / 100)

/** Three figures that tell a loss from its neighbour: `0.0214` · `0.214` · `2.31` · `12.4` */
export function formatLoss(loss: number): string {
  if (!Number.isFinite(loss)) return 'not a number'
  const size = Math.abs(loss)
  if (size >= 1000) return loss.toExponential(2)
  if (size >= 10) return loss.toFixed(1)
  if (size >= 1) return loss.toFixed(2)
  return size >= 0.1 || size === 0 ? loss.toFixed(3) : loss.toFixed(4)
}
