import { describe, expect, it } from 'vitest'
import { headingOf, leadOf, stateOfPc } from '../../../../renderer/window/words/this-pc.ts'
import { desktopRunning, desktopStopped } from '../../fixtures/answers.ts'
import * as snapshots from '../../fixtures/snapshots.ts'

const now = snapshots.fixtureNow
const plain = (text: string) => text.replaceAll('\u00a0', ' ')
const say = (snapshot: Parameters<typeof stateOfPc>[0], desktop = desktopRunning) => {
  const { word, detail, button } = stateOfPc(snapshot, desktop, now)
  return [word, plain(detail), button]
}

describe('the word for what this PC does', () => {
  it('tells each state with its reason and what the button does', () => {
    expect(say(snapshots.firstStart)).toEqual(['Idle', 'no job', 'none'])
    expect(say(snapshots.training)).toEqual(['Training', 'pool: 20.4 samples/s', 'pause'])
    expect(say(snapshots.lost)).toEqual(['Waiting', 'its cluster lost office-thinkpad', 'pause'])
    expect(say(snapshots.pausedOnBattery)).toEqual(['Paused', 'This PC runs on battery.', 'none'])
    expect(say(snapshots.pausedByUser)).toEqual(['Paused', 'until 22:44', 'resume'])
    expect(say({ ...snapshots.training, pauseAfterRound: { forMs: null } })).toEqual([
      ...['Training', 'finishing this round, then pausing', 'pause'],
    ])
    expect(say(snapshots.gathering)).toEqual(['Waiting', 'waiting for members', 'pause'])
    expect(say(snapshots.draining)).toEqual([
      ...['Finishing up', 'ben joined; what is in flight finishes before the new plan', 'pause'],
    ])
    expect(say(snapshots.waitsForTheLost)).toEqual([
      ...['Waiting', 'waiting for office-thinkpad and hall-imac to come back', 'pause'],
    ])
    expect(say(snapshots.comingBack)).toEqual(['Coming back', 'to “digits”', 'none'])
    expect(say(snapshots.hostFinished)).toEqual(['Idle', 'the job has ended', 'none'])
  })

  it('is about the agent when there is none', () => {
    expect(say(null)).toEqual(['Starting', 'waiting for the agent', 'none'])
    expect(say(snapshots.training, desktopStopped)).toEqual(['Agent stopped', 'starts again in 8 s', 'start'])
    expect(say(null, { ...desktopStopped, nextTryAtMs: null })).toEqual([
      'Agent stopped',
      'it does not start again by itself',
      'start',
    ])
  })
})

describe('the heading of Home', () => {
  it('says the state and the sentence under it the share of this PC', () => {
    const heading = (state: typeof snapshots.training) =>
      headingOf(state, stateOfPc(state, desktopRunning, now))
    expect(heading(snapshots.firstStart)).toBe('Nothing is running')
    expect(heading(snapshots.training)).toBe('Training “Moby Dick, byte by byte”')
    expect(heading(snapshots.pausedByUser)).toBe('Paused until 22:44')
    expect(heading(snapshots.pausedOnBattery)).toBe('Paused by your limits')
    expect(heading(snapshots.waitsForTheLost)).toBe('Waiting for “Moby Dick, byte by byte”')
    expect(heading(snapshots.comingBack)).toBe('Coming back to “digits”…')
    expect(heading(snapshots.comingBackToHost)).toBe('Coming back to “Moby Dick, byte by byte”…')
    expect(leadOf(snapshots.waitsForTheLost, 'waiting')).toBe(
      'Waiting for office-thinkpad and hall-imac to come back. This PC holds 5 of the 10 layers of “Moby Dick, byte by byte”.',
    )
    expect(leadOf(snapshots.training, 'training')).toBe(
      'This PC holds 4 of the 10 layers and trains them with 4 other PCs.',
    )
  })
})
