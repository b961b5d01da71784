/** What the host's faces show: the whole job. */
import type { JobResult, JobView, MemberView } from '../../../../shared/messages/control.ts'
import { second } from '../../../../shared/units.ts'
import type { HostState } from './host-state.ts'
import type { Moments } from './moments.ts'
import { samplesTrained, updatesMade } from './run-report.ts'

export interface HostSights {
  readonly moments: Moments
  readonly result: JobResult | null
}

/** Nobody trains though somebody should: what they wait for, as far as they say. */
function stalledText(members: readonly MemberView[]): string {
  const waits = members
    .filter(({ state, reason }) => state === 'training' && reason !== '')
    .map(({ displayName, reason }) => `${displayName}: ${reason}`)
  return waits.length === 0 ? 'stalled: no PC says what it waits for' : `stalled: ${waits.join('; ')}`
}

export function viewOfHost(host: HostState, { moments, result }: HostSights): Omit<JobView, 'invite'> {
  const { hosted, phase, text, roll, pace, plan = null } = host
  moments.see(roll, host.ports.clock.now())
  const { lastAveragedAtMs } = moments
  const targetUpdates = hosted.spec.target.updates
  const members = roll.views(host.secondsTrained).map((one) => {
    const lostAtMs = moments.lostAtMs(one.peer)
    return lostAtMs === undefined ? one : { ...one, lostAtMs }
  })
  const stalledForMs = phase === 'training' ? pace.stalledForMs(host.ports.clock.now()) : undefined
  const isStalled = stalledForMs !== undefined
  return {
    job: hosted.job,
    name: hosted.spec.name,
    role: 'host',
    phase,
    text: isStalled ? stalledText(members) : text,
    ...(isStalled ? { stalledForSeconds: Math.floor(stalledForMs / second) } : {}),
    hostName: hosted.device.displayName,
    members,
    plan,
    updates: updatesMade(host),
    targetUpdates,
    samples: samplesTrained(host),
    samplesPerSecond: isStalled ? 0 : pace.samplesPerSecond,
    secondsLeft: phase === 'training' && !isStalled ? pace.secondsLeft(targetUpdates) : null,
    trainingCurve: [...host.trainingCurve.points],
    validationCurve: [...host.validationCurve.points],
    log: [...host.log.lines],
    result,
    ...(lastAveragedAtMs === undefined ? {} : { lastAveragedAtMs }),
  }
}
