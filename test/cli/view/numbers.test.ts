import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatDurationRange,
  formatTraffic,
  formatLoss,
  formatRate,
  formatShare,
} from '../../../main/cli/view/numbers.ts'

describe('numbers for people', () => {
  it('keep their unit and few digits', () => {
    expect([0, 1023, 1024, 12_900_000, 1023.99 * 2 ** 20, 2 ** 34].map(formatBytes)).toEqual([
      '0 B',
      '1023 B',
      '1.0 KiB',
      '12.3 MiB',
      '1.0 GiB',
      '16.0 GiB',
    ])
    expect([0, 999, 1e6, 1_500_000].map(formatTraffic)).toEqual(['0 B', '999 B', '1.0 MB', '1.5 MB'])
    expect([999, 12_345, 1_234_567].map(formatCount)).toEqual(['999', '12,345', '1.2 M'])
    expect([0.84, 1234.4].map(formatRate)).toEqual(['0.8 samples/s', '1,234 samples/s'])
    expect([0.0214, 0.2141, 2.314, 12.44, 0, Number.NaN].map(formatLoss)).toEqual([
      '0.0214',
      '0.214',
      '2.31',
      '12.4',
      '0.000',
      'not a number',
    ])
    expect(formatShare(0.9417, 1)).toBe('94.2%')
  })

  it('say durations in the two largest units', () => {
    const minute = 60
    const hour = 60 * minute
    const said = [0.4, 99, 100, 99 * minute, 2 * hour + 10 * minute, 76 * hour].map(formatDuration)
    expect(said).toEqual(['0 s', '99 s', '2 min', '99 min', '2 h 10 min', '3 d 4 h'])
  })

  it('say a range once where its ends are the same, and one unit where they share it', () => {
    expect(formatDurationRange([12, 15])).toBe('12–15 s')
    expect(formatDurationRange([12, 12.2])).toBe('12 s')
    expect(formatDurationRange([90, 180])).toBe('90 s – 3 min')
    expect(formatDurationRange([7200, 9000])).toBe('2 h 0 min – 2 h 30 min')
  })
})
