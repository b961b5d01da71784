import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  groupDays,
  ruleOf,
  spansOf,
  timeAsMinutes,
  minutesAsTime,
} from '../../../../renderer/window/words/hours.ts'
import type { DayRule, Hours } from '../../../../renderer/window/words/hours.ts'
import { limits } from '../../../../shared/limits.ts'

const minute = fc.integer({ min: 0, max: 1440 })
const rule: fc.Arbitrary<DayRule> = fc.oneof(
  fc.constant<DayRule>({ kind: 'all' }),
  fc.constant<DayRule>({ kind: 'never' }),
  fc.record({ kind: fc.constant('span' as const), from: minute, to: minute }),
)

describe('the hours of a day', () => {
  it('are spans that the limits accept, whatever a person picks', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 7, maxLength: 7 }),
        (week) => limits.safeParse({ hours: week.map(spansOf) }).success,
      ),
    )
  })

  it('come back as the same minutes after a look in the editor', () => {
    fc.assert(
      fc.property(rule, (picked) => {
        const spans = spansOf(picked)
        expect(spansOf(ruleOf(spans))).toEqual(spans)
      }),
    )
  })

  it('of a night are before its end and after its beginning', () => {
    expect(spansOf({ kind: 'span', from: 1260, to: 420 })).toEqual([
      [0, 420],
      [1260, 1440],
    ])
  })

  it('set elsewhere with more spans are kept as they are', () => {
    const spans: [number, number][] = [
      [60, 120],
      [180, 240],
    ]
    expect(spansOf(ruleOf(spans))).toEqual(spans)
  })
})

describe('times', () => {
  it('read as they are written', () => {
    fc.assert(fc.property(minute, (minutes) => timeAsMinutes(minutesAsTime(minutes)) === minutes))
  })

  it('that are none are not read', () => {
    expect(['', '7', '25:00', '24:01', '12:60', 'noon', '-1:00'].map(timeAsMinutes)).toEqual(
      Array(7).fill(undefined),
    )
  })
})

describe('the week', () => {
  it('has one line for neighbouring days with the same hours', () => {
    const night: Hours[number] = [
      [0, 420],
      [1260, 1440],
    ]
    const week: Hours = [night, night, night, night, [[1260, 1440]], [[0, 1440]], []]
    expect(groupDays(week).map(({ days, words }) => `${days} ${words}`)).toEqual([
      'Mon–Thu 21:00 – 07:00',
      'Fri 21:00 – 24:00',
      'Sat all day',
      'Sun not at all',
    ])
  })
})
