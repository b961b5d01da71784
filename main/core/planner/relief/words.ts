/** A plan's limit as a sentence, with figures in the units of people's contracts. */
import type { BytesPerSecond, FlopsPerSecond, Seconds } from '../../../../shared/units.ts'

const round = (value: number): number => Number(value.toPrecision(3))

export const inBits = (rate: BytesPerSecond): string =>
  rate < 125e6 ? `${round((8 * rate) / 1e6)} Mbit/s` : `${round((8 * rate) / 1e9)} Gbit/s`

export const inFlops = (speed: FlopsPerSecond): string => `${round(speed / 1e9)} GFLOP/s`

export const inSeconds = (seconds: Seconds): string =>
  seconds < 1 ? `${round(1000 * seconds)} ms` : `${round(seconds)} s`

export const inPercent = (share: number): string => `${Math.round(100 * share)} %`
