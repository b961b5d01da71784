import { describe, expect, it } from 'vitest'
import { type MemberEvent, type MemberState, transition } from '../../../main/core/job/member/member-state.ts'

const after = (...events: MemberEvent[]) =>
  events.reduce<MemberState>(transition, { name: 'waiting', reason: '' })
const started: MemberEvent[] = [{ name: 'assigned' }, { name: 'stage-ready' }, { name: 'started' }]

describe('a member', () => {
  it('trains only after its stage was ready', () => {
    expect(after({ name: 'started' }).name).toBe('waiting')
    expect(after(...started).name).toBe('training')
  })

  it('drains before it is paused, and remembers that it asked', () => {
    const draining = after(...started, { name: 'pause-asked' })
    expect(draining.name).toBe('draining')
    expect(transition(draining, { name: 'cluster-inactive', reason: 'you pause' })).toEqual({
      name: 'paused',
      reason: 'you pause',
      byUs: true,
    })
  })

  it('is paused by others without having asked', () => {
    expect(after(...started, { name: 'cluster-inactive', reason: 'attic-pc pauses' })).toEqual({
      name: 'paused',
      reason: 'attic-pc pauses',
      byUs: false,
    })
  })

  it('takes its own pause back, drained or not, and no other member’s', () => {
    const draining = after(...started, { name: 'pause-asked' })
    expect(transition(draining, { name: 'resume-asked', holding: true })).toEqual({ name: 'training' })
    const paused = transition(draining, { name: 'cluster-inactive', reason: 'we pause' })
    expect(transition(paused, { name: 'resume-asked', holding: true })).toMatchObject({
      name: 'paused',
      byUs: false,
    })
    const held = after(...started, { name: 'cluster-inactive', reason: 'attic-pc pauses' })
    expect(transition(held, { name: 'resume-asked', holding: true })).toBe(held)
  })

  it('trains on to the end of the round before it pauses, or pauses at once when told so meanwhile', () => {
    const ending = after(...started, { name: 'pause-after-round-asked' })
    expect(ending).toEqual({ name: 'ending-round' })
    expect(transition(ending, { name: 'cluster-active' })).toBe(ending)
    expect(transition(ending, { name: 'pause-asked' })).toEqual({ name: 'draining' })
    expect(transition(ending, { name: 'resume-asked', holding: true })).toEqual({ name: 'training' })
    expect(transition(ending, { name: 'stage-finished' })).toEqual({ name: 'finished' })
    expect(transition(ending, { name: 'cluster-inactive', reason: 'attic-pc pauses' })).toEqual({
      name: 'paused',
      reason: 'attic-pc pauses',
      byUs: false,
    })
  })

  it('keeps its own pause while a woken cluster hands over, and under a plan that goes without it', () => {
    const paused = after(
      ...started,
      { name: 'pause-asked' },
      { name: 'cluster-inactive', reason: 'we pause' },
    )
    const handing = transition(paused, { name: 'cluster-active' })
    expect(handing).toEqual({ name: 'draining' })
    const out = transition(transition(handing, { name: 'stage-finished' }), {
      ...{ name: 'left-out', reason: 'the plan goes without this PC', pausing: true },
    })
    expect(out).toEqual({ name: 'paused', reason: 'the plan goes without this PC', byUs: true })
    expect(transition(out, { name: 'resume-asked', holding: false }).name).toBe('waiting')
  })

  it('may pause before it has a stage', () => {
    expect(after({ name: 'pause-asked' })).toMatchObject({ name: 'paused', byUs: true })
  })

  it('is planned around when it pauses before its stage begins, and drains where it was too late for that', () => {
    for (const events of [[started[0]!], started.slice(0, 2)]) {
      const paused = after(...events, { name: 'pause-asked' })
      expect(paused).toEqual({ name: 'paused', reason: 'the plan goes without this PC', byUs: true })
      expect(transition(paused, { name: 'stage-ready' })).toBe(paused)
      expect(transition(paused, { name: 'started' })).toEqual({ name: 'draining' })
      const back = transition(paused, { name: 'resume-asked', holding: true })
      expect(transition(back, { name: 'started' })).toEqual({ name: 'training' })
    }
  })

  it('stays paused when a plan comes that was made before the host heard of it', () => {
    const paused = after({ name: 'pause-asked' })
    expect(transition(paused, { name: 'assigned' })).toBe(paused)
    const back = transition(transition(paused, { name: 'assigned' }), { name: 'resume-asked', holding: true })
    expect(transition(transition(back, { name: 'stage-ready' }), { name: 'started' }).name).toBe('training')
  })

  it('rests on what is in flight where that takes long', () => {
    const resting = after(...started, { name: 'pause-asked' }, { name: 'rested' })
    expect(resting).toEqual({ name: 'paused', reason: 'what is in flight waits here', byUs: true })
    expect(transition(resting, { name: 'cluster-inactive', reason: 'we pause' })).toBe(resting)
    const training = after(...started)
    expect(transition(training, { name: 'rested' })).toBe(training)
  })

  it('hands over what its stage knows before it leaves, whatever comes meanwhile', () => {
    const leaving = after(...started, { name: 'leave-asked', holding: false })
    expect(leaving).toEqual({ name: 'handing-over' })
    for (const event of [...started, { name: 'stage-finished' }, { name: 'pause-asked' }] as MemberEvent[])
      expect(transition(leaving, event)).toBe(leaving)
    expect(transition(leaving, { name: 'ended', reason: 'left' }).name).toBe('ended')
    expect(after({ name: 'assigned' }, { name: 'leave-asked', holding: false }).name).toBe('preparing')
    expect(after({ name: 'assigned' }, { name: 'leave-asked', holding: true }).name).toBe('handing-over')
  })

  it('waits for no round where it does not train', () => {
    const ready = after({ name: 'assigned' }, { name: 'stage-ready' })
    expect(transition(ready, { name: 'pause-after-round-asked' })).toBe(ready)
  })

  it('may pause while another one does', () => {
    const held = after(...started, { name: 'cluster-inactive', reason: 'attic-pc pauses' })
    expect(transition(held, { name: 'pause-asked' })).toEqual({
      name: 'paused',
      reason: 'attic-pc pauses',
      byUs: true,
    })
  })

  it('goes on with its own pause when another cluster drops out, until it takes it back', () => {
    const draining = after(...started, { name: 'pause-asked' }, { name: 'cluster-active' })
    expect(draining.name).toBe('draining')
    expect(transition(draining, { name: 'resume-asked', holding: true }).name).toBe('training')
  })

  it('prepares anew for a new assignment at any time', () => {
    expect(after(...started, { name: 'assigned' }).name).toBe('preparing')
  })

  it('stays ended, whatever comes', () => {
    const ended = after({ name: 'ended', reason: 'the host is gone' })
    for (const event of [...started, { name: 'cluster-active' } as const])
      expect(transition(ended, event)).toBe(ended)
  })
})
