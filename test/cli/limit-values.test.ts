import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatHours, parseHours } from '../../main/cli/hours-text.ts'
import { formatLimit, parseLimits } from '../../main/cli/limit-values.ts'
import { InvalidInputError } from '../../shared/errors.ts'
import { limits, type LimitName } from '../../shared/limits.ts'

describe('limits on the command line', () => {
  it('are read as people write them, and only those that are named', () => {
    expect(
      parseLimits([
        'memoryBytes=2GiB',
        'compute-share=50%',
        'uploadBytesPerSecond=1MB/s',
        'downloadBytesPerSecond=none',
        'trainOnBattery=yes',
        'idle-minutes=10',
        'pausePrograms=blender, zoom',
        'networkIsMetered=off',
      ]),
    ).toEqual({
      memoryBytes: 2 ** 31,
      computeShare: 0.5,
      uploadBytesPerSecond: 1e6,
      downloadBytesPerSecond: 0,
      trainOnBattery: true,
      idleMinutes: 10,
      pausePrograms: ['blender', 'zoom'],
      networkIsMetered: false,
    })
    expect(parseLimits(['computeShare=0.25'])).toEqual({ computeShare: 0.25 })
    expect(parseLimits(['pausePrograms=none'])).toEqual({ pausePrograms: [] })
  })

  it.each([
    ['speed=1', /sets no limit; write key=value with one of memoryBytes, /],
    ['computeShare', /sets no limit/],
    ['computeShare=half', /computeShare: "half" is no share/],
    ['computeShare=0', /computeShare/],
    ['computeShare=300%', /computeShare/],
    ['memoryBytes=much', /memoryBytes: "much" is not a size/],
    ['idleMinutes=1.5', /idleMinutes/],
    ['idleMinutes=', /idleMinutes/],
    ['trainOnBattery=maybe', /neither yes nor no/],
    ['hours=later', /hours: "later" is not understood/],
    ['hours=mon 25-26', /is not understood/],
    ['hours=mon 10:75-11', /is not understood/],
    ['hours=mon-wed-fri 1-2', /is not understood/],
  ])('refuse %s in a sentence', (pair, sentence) => {
    expect(() => parseLimits([pair])).toThrow(InvalidInputError)
    expect(() => parseLimits([pair])).toThrow(sentence)
  })

  it('are shown in a few characters', () => {
    const shown = (name: LimitName, given: object) => formatLimit(name, limits.parse(given))
    expect(shown('memoryBytes', {})).toBe('half')
    expect(shown('memoryBytes', { memoryBytes: 2 ** 31 })).toBe('2.0 GiB')
    expect(shown('computeShare', { computeShare: 0.5 })).toBe('50%')
    expect(shown('uploadBytesPerSecond', {})).toBe('none')
    expect(shown('uploadBytesPerSecond', { uploadBytesPerSecond: 1e6 })).toBe('1.0 MB/s')
    expect(shown('hours', {})).toBe('always')
    expect(shown('pausePrograms', { pausePrograms: ['a', 'b'] })).toBe('a, b')
  })
})

describe('hours of the week', () => {
  it('are read by day, by run of days, and over midnight and the end of the week', () => {
    expect(parseHours('mon-wed 18:00-23:30, Sat+Sunday 8-24')).toEqual([
      ...[[[1080, 1410]], [[1080, 1410]], [[1080, 1410]], [], []],
      ...[[[480, 1440]], [[480, 1440]]],
    ])
    expect(parseHours('sun 22:00-2:00')).toEqual([[[0, 120]], [], [], [], [], [], [[1320, 1440]]])
    expect(parseHours('fri-mon 1-2').map((day) => day.length)).toEqual([1, 0, 0, 0, 1, 1, 1])
    expect(parseHours('always')).toEqual(Array.from({ length: 7 }, () => [[0, 1440]]))
  })

  it('are shown as they would be written, and read back the same', () => {
    expect(formatHours(parseHours('mon-fri 18:00-23:30, sun 0:00-24:00'))).toBe(
      'mon+tue+wed+thu+fri 18:00-23:30, sun 00:00-24:00',
    )
    const spans = fc.array(
      fc
        .tuple(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 1, max: 1440 }))
        .filter(([a, b]) => a < b),
      { maxLength: 3 },
    )
    fc.assert(
      fc.property(fc.array(spans, { minLength: 7, maxLength: 7 }), (week) => {
        const text = formatHours(week)
        fc.pre(text !== 'never')
        const read = parseHours(text)
        const minutes = (days: readonly (readonly (readonly number[])[])[]) =>
          days.map((day) => {
            const open = new Set<number>()
            for (const [from = 0, to = 0] of day) for (let at = from; at < to; at++) open.add(at)
            return open.size
          })
        expect(minutes(read)).toEqual(minutes(week))
        expect(parseHours(formatHours(read))).toEqual(read)
      }),
      { numRuns: 50 },
    )
  })
})
