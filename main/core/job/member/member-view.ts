/** What a member's faces show: itself, and what the host told it. */
import type { JobPhase, JobView, MemberView } from '../../../../shared/messages/control.ts'
import type { MemberState } from './member-state.ts'
import type { Member } from './member.ts'

const phaseOf: Record<MemberState['name'], JobPhase> = {
  waiting: 'gathering',
  preparing: 'preparing',
  ready: 'preparing',
  training: 'training',
  'ending-round': 'training',
  draining: 'draining',
  paused: 'paused',
  'handing-over': 'draining',
  finished: 'finishing',
  ended: 'ended',
}

const stateOf: Record<MemberState['name'], MemberView['state']> = {
  waiting: 'joined',
  preparing: 'preparing',
  ready: 'ready',
  training: 'training',
  'ending-round': 'training',
  draining: 'training',
  paused: 'paused',
  'handing-over': 'training',
  finished: 'finished',
  ended: 'idle',
}

const textOfState: Partial<Record<MemberState['name'], string>> = {
  preparing: 'getting ready: the engine loads, data and weights arrive',
  ready: 'ready; waiting for the others',
  draining: 'finishing what is in flight before the pause',
  'handing-over': 'leaving: the host takes over what this PC’s layers have learned',
  finished: 'done; the host gathers the model',
}

/** What a face says while this PC trains on to the end of the round. */
export const endingRound = 'finishing this round, then pausing'

/** One sentence of what this PC is doing. */
export function textOf(state: MemberState, waitingFor: string): string {
  if (state.name === 'waiting' || state.name === 'ended') return state.reason
  if (state.name === 'paused') return state.byUs ? 'paused' : `waiting: ${state.reason}`
  if (state.name === 'ending-round') return endingRound
  if (state.name === 'training') return waitingFor === '' ? 'training' : `training; ${waitingFor}`
  return textOfState[state.name] ?? state.name
}

/** Everything of a `JobView` that a member knows by itself. */
export function viewOfMember(
  member: Member,
  self: { readonly job: string; readonly name: string; readonly peer: string; readonly displayName: string },
): Omit<JobView, 'samplesPerSecond' | 'secondsLeft' | 'result'> {
  const { state, lastReport: report } = member
  const { plan = null, assignment } = member
  return {
    job: self.job,
    name: self.name,
    role: 'member',
    phase: phaseOf[state.name],
    text: textOf(state, report.waitingFor),
    invite: null,
    members: [
      {
        peer: self.peer,
        displayName: self.displayName,
        state: stateOf[state.name],
        reason: report.waitingFor,
        updates: report.updates,
        samples: report.samples,
        busyShare: 0,
        peakTensorBytes: report.peakTensorBytes,
        maxStaleness: report.maxStaleness,
        droppedGradients: report.dropped,
      },
    ],
    plan,
    updates: report.updates,
    targetUpdates: assignment?.spec.target.updates ?? 0,
    samples: report.samples,
    trainingCurve: [...member.curve.points],
    validationCurve: [],
    log: [...member.log.lines],
  }
}
