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
    expect(leadOf(snapshots.training, 'training')).toBe(
      'This PC holds 4 of the 10 layers and trains them with 4 other PCs.',
    )
  })
})
