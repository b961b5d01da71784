/** How a PC of the pool stands: at work, slow, waiting or lost, in words that fit into its box. */
import type { MemberView } from '../../../shared/messages/control.ts'
import type { StagePlan } from '../../../shared/plan/plan.ts'
import { memory, percent } from './numbers.ts'

export type StageTone = 'plain' | 'slow' | 'waits' | 'lost'

export interface Status {
  readonly tone: StageTone
  readonly status: string
  /** Where the whole status does not fit. */
  readonly short: string
}

/** States in which a peer does nothing, the word for them, and how the picture marks them. */
const resting: Partial<Record<MemberView['state'], readonly [StageTone, string]>> = {
  lost: ['lost', 'lost'],
  idle: ['waits', 'waits'],
  paused: ['waits', 'paused'],
}

/** What a peer at work uses; where it is not known, its state. */
function useOf({ busyShare, peakTensorBytes, state }: MemberView): Status {
  const busy = busyShare > 0 ? `busy ${percent(busyShare)}` : ''
  const held = peakTensorBytes > 0 ? memory(peakTensorBytes) : ''
  const use = [busy, held].filter((part) => part !== '').join(' · ')
  return { tone: 'plain', status: use === '' ? state : use, short: busy === '' ? state : busy }
}

/** It does nothing at present; undefined where it works. */
function restOf({ state, reason }: MemberView): Status | undefined {
  const rests = resting[state]
  if (rests === undefined) return undefined
  const [tone, word] = rests
  return { tone, status: reason === '' ? word : `${word}: ${reason}`, short: word }
}

export function statusOf(member: MemberView | undefined, slow: boolean): Status {
  const rests = member && restOf(member)
  if (rests !== undefined) return rests
  // Nobody sets a pace any more in a job that has ended.
  const works = member === undefined || member.state === 'training'
  if (slow && works) return { tone: 'slow', status: 'slowest here', short: 'slowest' }
  return member === undefined ? { tone: 'plain', status: '', short: '' } : useOf(member)
}

/** The stage that sets the pace of its cluster: clearly slower than each other one. */
export function slowestOf(stages: readonly StagePlan[]): string | undefined {
  if (stages.length < 2) return undefined
  const [first, second] = [...stages].sort((a, b) => b.secondsPerMicroBatch - a.secondsPerMicroBatch)
  if (first === undefined || second === undefined) return undefined
  return first.secondsPerMicroBatch > 1.15 * second.secondsPerMicroBatch ? first.peer : undefined
}
