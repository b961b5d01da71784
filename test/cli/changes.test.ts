import { describe, expect, it } from 'vitest'
import type { JobView } from '../../shared/messages/control.ts'
import { createChanges } from '../../main/cli/changes.ts'
import { exampleJob, exampleMember } from './example-job.ts'

const job = (change: Partial<JobView>): JobView => ({ ...exampleJob, plan: null, members: [], ...change })

/** What programs and people are told of a life of a job. */
function told(states: readonly Partial<JobView>[]) {
  const changes = createChanges()
  const all = states.flatMap((state) => changes(job(state)))
  return {
    events: all.map(({ event }) => event.event),
    texts: all.flatMap(({ text }) => (text === undefined ? [] : [text])),
  }
}

const calm: Partial<JobView> = {
  phase: 'training',
  text: '',
  updates: 0,
  validationCurve: [],
  trainingCurve: [],
}

describe('what is told of a job', () => {
  it('is nothing when nothing changed', () => {
    expect(told([calm, calm, calm]).events).toEqual(['phase'])
  })

  it('is progress at every hundredth for programs and at every tenth for people', () => {
    const states = Array.from({ length: 1001 }, (_, updates) => ({ ...calm, updates, targetUpdates: 1000 }))
    const { events, texts } = told(states)
    expect(events.filter((event) => event === 'progress')).toHaveLength(100)
    expect(texts.slice(0, 2)).toEqual([
      'training',
      '100 of 1,000 updates, 10%, 1,152 samples/s, 12–15 s left',
    ])
    expect(texts).toHaveLength(11)
  })

  it('is each entry of the log once, also when old ones fall out of its front', () => {
    const log = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => ({ atMs: from + index, text: `entry ${from + index}` }))
    const states = [log(0, 2), log(0, 2), log(1, 4), log(9, 11)].map((entries) => ({ ...calm, log: entries }))
    expect(told(states).texts.slice(1)).toEqual([0, 1, 2, 3, 9, 10].map((entry) => `entry ${entry}`))
  })

  it('is a peer’s new state, and not what a training peer waits for from moment to moment', () => {
    const states = [
      { state: 'joined', reason: '' },
      { state: 'training', reason: 'waiting for activations' },
      { state: 'training', reason: 'waiting for gradients' },
      { state: 'lost', reason: 'silent' },
    ] as const
    const { events } = told(states.map((state) => ({ ...calm, members: [exampleMember('a', state)] })))
    expect(events.filter((event) => event === 'member')).toHaveLength(3)
  })

  it('keeps waits of a training quiet for people, and tells all others', () => {
    const { texts } = told([
      { ...calm, phase: 'gathering', text: 'waits for 2 peers' },
      { ...calm, phase: 'gathering', text: 'waits for 1 peer' },
      { ...calm, text: 'round 1' },
      { ...calm, text: 'round 2' },
    ])
    expect(texts).toEqual(['waits for 2 peers', 'waits for 1 peer', 'round 1'])
  })
})
