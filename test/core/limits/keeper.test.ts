import { beforeEach, describe, expect, it } from 'vitest'
import { LimitKeeper, type UserPause } from '../../../main/core/limits/keeper.ts'
import { type Limits, limits as limitsSchema } from '../../../shared/limits.ts'
import { createVirtualClock, type VirtualClock } from '../../fakes/clock.ts'

const midnight = 1_800_000_000_000

let clock: VirtualClock
let limits: Limits
/** The machine, as its probes tell it. */
let machine: { onBattery: boolean | undefined; programs: string[] }
let asked: { battery: number; programs: number }
let kept: (UserPause | null)[]
/** What the job was told, repetitions left out. */
let told: string[]
let changes: number
/** A round that a pause has to wait for is under way. */
let inRound: boolean
let keeper: LimitKeeper
let job: AbortController

function createKeeper(userPause: UserPause | null = null): LimitKeeper {
  return new LimitKeeper(
    {
      clock,
      wall: () => ({
        epochMs: midnight + clock.now(),
        weekday: 0,
        minuteOfDay: Math.floor(clock.now() / 60_000) % 1440,
      }),
      log: () => undefined,
      limits: () => limits,
      battery: () => {
        asked.battery++
        return Promise.resolve(machine.onBattery)
      },
      programs: () => {
        asked.programs++
        return Promise.resolve(machine.programs)
      },
      keepPause: (pause) => kept.push(pause),
      onChange: () => changes++,
    },
    userPause,
  )
}

/** A job begins; its keeper looks once a second. */
function begin(): void {
  const say = (word: string) => () => {
    if (told.at(-1) !== word) told.push(word)
  }
  const pauseAfterRound = () => {
    say(inRound ? 'pause after the round' : 'pause')()
    return inRound
  }
  void keeper.keep({ pause: say('pause'), pauseAfterRound, resume: say('resume') }, job.signal)
}

beforeEach(() => {
  clock = createVirtualClock()
  limits = limitsSchema.parse({})
  machine = { onBattery: undefined, programs: [] }
  asked = { battery: 0, programs: 0 }
  kept = []
  told = []
  changes = 0
  inRound = true
  keeper = createKeeper()
  job = new AbortController()
})

describe('the desktop’s word', () => {
  it('pauses at once on battery and lets the job go on at the plug', async () => {
    begin()
    keeper.tell({ onBattery: true, idleSeconds: 0 })
    expect(told).toEqual(['resume', 'pause'])
    keeper.tell({ onBattery: false, idleSeconds: 0 })
    expect(told).toEqual(['resume', 'pause', 'resume'])
    await clock.advance(60_000)
    expect(asked.battery).toBe(1)
  })

  it('on keyboard and mouse is forgotten when the desktop falls silent', async () => {
    limits = limitsSchema.parse({ idleMinutes: 5 })
    begin()
    keeper.tell({ onBattery: false, idleSeconds: 10 })
    expect(told.at(-1)).toBe('pause')
    await clock.advance(119_000)
    expect(told.at(-1)).toBe('pause')
    await clock.advance(3_000)
    expect(told.at(-1)).toBe('resume')
  })
})

describe('a limit that is changed', () => {
  it('holds at once, and is shown', () => {
    begin()
    const before = changes
    limits = limitsSchema.parse({ networkIsMetered: true })
    keeper.apply()
    expect(told.at(-1)).toBe('pause')
    expect(changes).toBe(before + 1)
    keeper.apply()
    expect(changes).toBe(before + 1)
  })

  it('by the hour holds within a second of its hour', async () => {
    limits = limitsSchema.parse({ hours: Array.from({ length: 7 }, () => [[0, 10]]) })
    begin()
    await clock.advance(10 * 60_000 - 1)
    expect(told).toEqual(['resume'])
    await clock.advance(1_000)
    expect(told).toEqual(['resume', 'pause'])
  })
})

describe('programs', () => {
  it('are looked for every five seconds, only while names are set and a job is under way', async () => {
    limits = limitsSchema.parse({ pausePrograms: ['doom'] })
    await clock.advance(60_000)
    expect(asked.programs).toBe(0)
    begin()
    await clock.settle()
    expect(asked.programs).toBe(1)
    machine.programs = ['bash', 'doom.exe']
    await clock.advance(5_000)
    expect([asked.programs, told.at(-1)]).toEqual([2, 'pause'])
    expect(keeper.states().find(({ state }) => state === 'pausing')?.reason).toBe('doom runs.')
    limits = limitsSchema.parse({})
    await clock.advance(60_000)
    expect([asked.programs, told.at(-1)]).toEqual([2, 'resume'])
    job.abort()
    limits = limitsSchema.parse({ pausePrograms: ['doom'] })
    await clock.advance(60_000)
    expect(asked.programs).toBe(2)
  })
})

describe('the battery without a desktop', () => {
  it('is asked every half minute where there is one', async () => {
    machine.onBattery = false
    begin()
    await clock.advance(29_000)
    machine.onBattery = true
    await clock.advance(1_500)
    expect([asked.battery, told.at(-1)]).toEqual([2, 'pause'])
  })

  it('is asked once where there is none', async () => {
    begin()
    await clock.advance(300_000)
    expect([asked.battery, told]).toEqual([1, ['resume']])
  })
})

describe('a user’s own pause', () => {
  it('is kept, holds through everything the limits say, and ends with resume', async () => {
    begin()
    keeper.pause()
    expect(kept).toEqual([{ untilMs: null }])
    keeper.tell({ onBattery: true, idleSeconds: 0 })
    keeper.tell({ onBattery: false, idleSeconds: 0 })
    await clock.advance(600_000)
    expect(told).toEqual(['resume', 'pause'])
    expect(keeper.userPause).toEqual({ untilMs: null })
    keeper.resume()
    expect(told).toEqual(['resume', 'pause', 'resume'])
    expect(kept).toEqual([{ untilMs: null }, null])
  })

  it('for ten minutes ends after ten minutes, even over a restart', async () => {
    keeper.pause(600_000)
    const [pause] = kept
    keeper = createKeeper(pause ?? null)
    begin()
    expect(keeper.userPause).toEqual({ untilMs: midnight + 600_000 })
    await clock.advance(599_999)
    expect(told).toEqual(['pause'])
    await clock.advance(1_000)
    expect([told.at(-1), keeper.userPause, kept.at(-1)]).toEqual(['resume', null, null])
  })

  it('that is taken back does not undo what a limit asks', () => {
    limits = limitsSchema.parse({ networkIsMetered: true })
    begin()
    keeper.pause()
    keeper.resume()
    expect(told).toEqual(['pause'])
  })
})

describe('a pause after the round', () => {
  it('waits for it, and its time counts from there', async () => {
    begin()
    keeper.pauseWhenRoundEnds(600_000)
    expect([keeper.pauseAfterRound, keeper.userPause]).toEqual([{ forMs: 600_000 }, null])
    await clock.advance(300_000)
    expect(told).toEqual(['resume', 'pause after the round'])
    inRound = false
    await clock.advance(1_000)
    expect(told.at(-1)).toBe('pause')
    expect([keeper.pauseAfterRound, keeper.userPause]).toEqual([null, { untilMs: midnight + 901_000 }])
    await clock.advance(600_000)
    expect([told.at(-1), keeper.userPause]).toEqual(['resume', null])
  })

  it('is shown once, and is no wait where no round is under way', () => {
    const before = changes
    keeper.pauseWhenRoundEnds()
    expect([keeper.pauseAfterRound, keeper.userPause]).toEqual([null, { untilMs: null }])
    expect(changes).toBe(before + 1)
  })

  it('is taken back by resume', async () => {
    begin()
    keeper.pauseWhenRoundEnds()
    keeper.resume()
    inRound = false
    await clock.advance(60_000)
    expect(told).toEqual(['resume', 'pause after the round', 'resume'])
    expect([keeper.pauseAfterRound, keeper.userPause, kept.at(-1)]).toEqual([null, null, null])
  })

  it('gives way to an ordinary pause, and to a limit that pauses first: then it holds from there', () => {
    begin()
    keeper.pauseWhenRoundEnds(600_000)
    keeper.pause()
    expect([told.at(-1), keeper.pauseAfterRound, keeper.userPause]).toEqual([
      'pause',
      null,
      { untilMs: null },
    ])
    keeper.resume()
    keeper.pauseWhenRoundEnds()
    keeper.tell({ onBattery: true, idleSeconds: 0 })
    expect([told.at(-1), keeper.pauseAfterRound, keeper.userPause]).toEqual([
      'pause',
      null,
      { untilMs: null },
    ])
    keeper.tell({ onBattery: false, idleSeconds: 0 })
    expect(told.at(-1)).toBe('pause')
  })

  it('is in force after a restart, whose end ended the round', async () => {
    begin()
    keeper.pauseWhenRoundEnds(600_000)
    const [left] = kept
    job.abort()
    await clock.settle()
    told = []
    job = new AbortController()
    keeper = createKeeper(left ?? null)
    begin()
    await clock.advance(0)
    expect([told, keeper.userPause]).toEqual([['pause'], { untilMs: midnight + 600_000 }])
  })

  it('holds from the end of a job that ended first', async () => {
    begin()
    keeper.pauseWhenRoundEnds()
    job.abort()
    await clock.settle()
    expect([keeper.pauseAfterRound, keeper.userPause]).toEqual([null, { untilMs: null }])
  })
})
