/** What the host's faces show: the whole job. */
import type { JobResult, JobView } from '../../../../shared/messages/control.ts'
import type { Pace } from '../forecast.ts'
import type { HostState } from './host-state.ts'
import type { Moments } from './moments.ts'
import { samplesTrained, updatesMade } from './run-report.ts'

export interface HostSights {
  readonly pace: Pace
  readonly moments: Moments
  readonly result: JobResult | null
}

export function viewOfHost(host: HostState, { pace, moments, result }: HostSights): Omit<JobView, 'invite'> {
  const { hosted, phase, text, roll, plan = null } = host
  moments.see(roll, host.ports.clock.now())
  const { lastAveragedAtMs } = moments
  const targetUpdates = hosted.spec.target.updates
  return {
    job: hosted.job,
    name: hosted.spec.name,
    role: 'host',
    phase,
    text,
    hostName: hosted.device.displayName,
    members: roll.views(host.secondsTrained).map((view) => {
      const lostAtMs = moments.lostAtMs(view.peer)
      return lostAtMs === undefined ? view : { ...view, lostAtMs }
    }),
    plan,
    updates: updatesMade(host),
    targetUpdates,
    samples: samplesTrained(host),
    samplesPerSecond: pace.samplesPerSecond,
    secondsLeft: phase === 'training' ? pace.secondsLeft(targetUpdates) : null,
    trainingCurve: [...host.trainingCurve.points],
    validationCurve: [...host.validationCurve.points],
    log: [...host.log.lines],
    result,
    ...(lastAveragedAtMs === undefined ? {} : { lastAveragedAtMs }),
  }
}
