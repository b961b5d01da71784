import { describe, expect, it } from 'vitest'
import { judgeLimits, pauseReason } from '../../../main/core/limits/judge.ts'
import { type Conditions, type LimitName, limits } from '../../../shared/limits.ts'

const monday = { weekday: 0, minuteOfDay: 12 * 60 }
const quiet: Conditions = { programs: [], ...monday }
const judge = (given: object, conditions: Partial<Conditions> = {}) =>
  judgeLimits(limits.parse(given), { ...quiet, ...conditions })
const stateOf = (name: LimitName, given: object, conditions: Partial<Conditions> = {}) =>
  judge(given, conditions).find(({ limit }) => limit === name)?.state

describe('the limits of a PC whose owner set none', () => {
  it('are all off but the battery, which nobody can tell here', () => {
    const states = judge({})
    expect(states.map(({ limit }) => limit)).toEqual(Object.keys(limits.shape))
    expect(states.filter(({ state }) => state !== 'off').map(({ limit, state }) => [limit, state])).toEqual([
      ['trainOnBattery', 'allows'],
    ])
    expect(pauseReason(states)).toBeUndefined()
  })
})

describe('a limit', () => {
  it.each<[LimitName, object, Partial<Conditions>, string]>([
    ['memoryBytes', { memoryBytes: 1e9 }, {}, 'in-force'],
    ['computeShare', { computeShare: 0.5 }, {}, 'in-force'],
    ['uploadBytesPerSecond', { uploadBytesPerSecond: 1e6 }, {}, 'in-force'],
    ['downloadBytesPerSecond', { downloadBytesPerSecond: 1e6 }, {}, 'in-force'],
    ['trainOnBattery', {}, { onBattery: true }, 'pausing'],
    ['trainOnBattery', {}, { onBattery: false }, 'allows'],
    ['trainOnBattery', { trainOnBattery: true }, { onBattery: true }, 'off'],
    ['idleMinutes', { idleMinutes: 5 }, { idleSeconds: 299 }, 'pausing'],
    ['idleMinutes', { idleMinutes: 5 }, { idleSeconds: 300 }, 'allows'],
    ['idleMinutes', { idleMinutes: 5 }, {}, 'allows'],
    ['pausePrograms', { pausePrograms: ['blender'] }, {}, 'allows'],
    ['pausePrograms', { pausePrograms: ['blender'] }, { programs: ['blender'] }, 'pausing'],
    ['networkIsMetered', { networkIsMetered: true }, {}, 'pausing'],
  ])('%s set to %o under %o is %s', (name, given, conditions, state) => {
    expect(stateOf(name, given, conditions)).toBe(state)
  })

  it('gives its reason, the first that pauses for all', () => {
    const states = judge({ idleMinutes: 5, networkIsMetered: true }, { onBattery: true, idleSeconds: 3 })
    expect(states.filter(({ state }) => state === 'pausing').map(({ reason }) => reason)).toEqual([
      'This PC runs on battery.',
      'Keyboard or mouse were used within the last 5 minutes.',
      'This network costs by the byte, you said.',
    ])
    expect(pauseReason(states)).toBe('This PC runs on battery.')
  })
})

describe('hours of the week', () => {
  const evenings: [number, number][][] = Array.from({ length: 7 }, () => [[18 * 60, 23 * 60]])
  const at = (hour: number, weekday = 0) => ({ weekday, minuteOfDay: hour * 60 })

  it('open with their first minute and close with their last', () => {
    expect(stateOf('hours', { hours: evenings }, { weekday: 3, minuteOfDay: 18 * 60 - 1 })).toBe('pausing')
    expect(stateOf('hours', { hours: evenings }, at(18, 3))).toBe('allows')
    expect(stateOf('hours', { hours: evenings }, { weekday: 3, minuteOfDay: 23 * 60 - 1 })).toBe('allows')
    expect(stateOf('hours', { hours: evenings }, at(23, 3))).toBe('pausing')
  })

  it('are off when they leave nothing out, however they are cut', () => {
    const whole = Array.from({ length: 7 }, () => [
      [600, 1440],
      [0, 700],
    ])
    expect(stateOf('hours', { hours: whole })).toBe('off')
    whole[6] = [
      [0, 700],
      [701, 1440],
    ]
    expect(stateOf('hours', { hours: whole })).toBe('allows')
  })

  it('say when they open again, over the end of the week', () => {
    const mondays = [[[8 * 60, 9 * 60]], [], [], [], [], [], []]
    const reasonAt = (conditions: Partial<Conditions>) =>
      judge({ hours: mondays }, conditions).find(({ limit }) => limit === 'hours')?.reason
    expect(reasonAt(at(7.5))).toBe('It is outside the hours agreed; training may go on in 30 minutes.')
    expect(reasonAt(at(23, 6))).toBe('It is outside the hours agreed; training may go on in 9 hours.')
    expect(reasonAt(at(8))).toBe('It is within the hours agreed: 08:00–09:00.')
  })

  it('that are none pause for good', () => {
    const never = [[], [], [], [], [], [], []]
    expect(judge({ hours: never }).find(({ limit }) => limit === 'hours')).toMatchObject({
      state: 'pausing',
      reason: 'No hour of the week is agreed.',
    })
  })
})
