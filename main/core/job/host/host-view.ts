/** What the host's faces show: the whole job. */
import type { JobResult, JobView } from '../../../../shared/messages/control.ts'
import type { HostState } from './host-state.ts'
import { samplesTrained, updatesMade } from './run-report.ts'

export function viewOfHost(host: HostState, result: JobResult | null): Omit<JobView, 'invite'> {
  const { hosted, phase, text, roll, pace, plan = null } = host
  const targetUpdates = hosted.spec.target.updates
  return {
    job: hosted.job,
    name: hosted.spec.name,
    role: 'host',
    phase,
    text,
    members: roll.views(host.secondsTrained),
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
  }
}
