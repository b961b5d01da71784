/** Notifications: each once, and none that the person's own wish would make untrue. */
import { describe, expect, it } from 'vitest'
import type { AgentStatus } from '../../../main/desktop/agent/supervisor.ts'
import { followNews } from '../../../main/desktop/person/news.ts'
import { createSignal } from '../../../main/desktop/signal.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'
import { hostFinished, training } from '../../renderer/fixtures/snapshots.ts'

const running: AgentStatus = { name: 'running', tries: 0, agent: undefined as never }
const free: Snapshot = { ...training, job: null }
const comingBack: Snapshot = { ...free, comesBackTo: 'digits' }

/** Titles of what was told while the agent said all this, one after the other. */
function told(snapshots: readonly (Snapshot | undefined)[], isChoosing = false): string[] {
  const titles: string[] = []
  const snapshot = createSignal<Snapshot | undefined>(undefined)
  const status = createSignal<AgentStatus>(running)
  followNews({ snapshot, status, isChoosing: () => isChoosing }, ({ title }) => titles.push(title))
  for (const next of snapshots) snapshot.set(next)
  return titles
}

describe('the news of a PC that wants to come back to its job', () => {
  it('are none while it tries and when it is back', () => {
    expect(told([free, comingBack, { ...training, comesBackTo: 'digits' }, training])).toEqual([])
  })

  it('are told once when it gives up, with no job or an ended one', () => {
    const gaveUp = ['This PC did not come back to digits']
    expect(told([comingBack, free, free])).toEqual(gaveUp)
    expect(told([{ ...hostFinished, comesBackTo: 'digits' }, hostFinished])).toEqual(gaveUp)
  })

  it('are none where the person wants another job, or another agent has yet to read where it was', () => {
    expect(told([comingBack, free], true)).toEqual([])
    expect(told([comingBack, undefined, free, comingBack])).toEqual([])
  })
})
