import { describe, expect, it } from 'vitest'
import * as numbers from '../../../../renderer/window/words/numbers.ts'

/** Ordinary spaces and dashes, so that the tests can be read. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ').replaceAll('\u2060', '')

describe('numbers as people read them', () => {
  it('have a unit that fits their size', () => {
    expect([0, 999, 4.2e9, 31e9, 7.2e13].map(numbers.bytes).map(plain)).toEqual([
      '0 B',
      '999 B',
      '4.2 GB',
      '31 GB',
      '72 TB',
    ])
    expect([1024 ** 2, 2 * 1024 ** 3].map(numbers.memory).map(plain)).toEqual(['1 MB', '2 GB'])
    expect(plain(numbers.bytesPerSecond(750_000))).toBe('750 kB/s')
  })

  it('keep the digits that count', () => {
    expect([0, 0.32, 0.5, 4.12, 20, 20.44, 412.3, 17_812].map(numbers.few)).toEqual([
      '0',
      '0.32',
      '0.5',
      '4.1',
      '20',
      '20.4',
      '412',
      '17,812',
    ])
  })

  it('never look like zero or like a formula', () => {
    expect([0.00001, 0.0012, -3.25, -412.3].map(numbers.few)).toEqual(['<0.001', '0.0012', '−3.3', '−412'])
  })

  it('are rounder where they are only estimated', () => {
    expect([29.4e9, 37.8e9, 2.13e9].map(numbers.roughBytes).map(plain)).toEqual(['29 GB', '38 GB', '2.1 GB'])
    const times = [0, 1, 52, 100, 1480, 7790, 25_920, 50_000, 280_000, 5_000_000]
    expect(times.map(numbers.roughDuration).map(plain)).toEqual([
      '0 s',
      '5 s',
      '50 s',
      '2 min',
      '25 min',
      '2 h 10 min',
      '7 h 10 min',
      '14 h',
      '3 d 6 h',
      '58 d',
    ])
    expect([4810, 6_489_600, 1_240_000_000].map(numbers.inMillions).map(plain)).toEqual([
      '4,810',
      '6.5 million',
      '1.2 billion',
    ])
  })

  it('never call work that is not all done 100%', () => {
    expect([0, 0.4, 0.999, 1].map(numbers.percent)).toEqual(['0%', '40%', '99%', '100%'])
  })

  it('say times in two units at most', () => {
    expect([0, 38, 99.4, 100, 720, 3600, 7800, 273_600].map(numbers.duration).map(plain)).toEqual([
      '0 s',
      '38 s',
      '99 s',
      '2 min',
      '12 min',
      '1 h',
      '2 h 10 min',
      '3 d 4 h',
    ])
  })

  it('say a range once where both ends read the same, and the unit once where it is one', () => {
    expect(plain(numbers.range([2.1e9, 2.7e9], numbers.bytes))).toBe('2.1–2.7 GB')
    expect(plain(numbers.range([9e8, 2e9], numbers.bytes))).toBe('900 MB – 2 GB')
    expect(plain(numbers.range([7800, 9600], numbers.duration))).toBe('2 h 10 – 2 h 40 min')
    expect(plain(numbers.range([3.8, 4.9], numbers.few))).toBe('3.8–4.9')
    expect(plain(numbers.range([7800, 7801], numbers.duration))).toBe('2 h 10 min')
  })

  it('name the time today, the weekday this week, the date later', () => {
    const now = new Date(2026, 10, 29, 21, 44).getTime()
    const at = (days: number) => numbers.moment(new Date(2026, 10, 29 + days, 7, 5).getTime(), now)
    expect([at(0), at(1), at(7)]).toEqual(['07:05', 'Monday, 07:05', '6 Dec 2026'])
  })
})
