/** What is new between two states of a job: the lines a script or a log gets instead of a picture. */
import type { JobView, MemberView } from '../../shared/messages/control.ts'
import { sparkline } from './view/chart.ts'
import { harmless } from './view/columns.ts'
import { formatCount, formatDurationRange, formatLoss, formatRate, formatDone } from './view/numbers.ts'

/** One line of `--json`, with its text for people where they would want one. */
export interface Change {
  readonly event: { readonly event: string } & Readonly<Record<string, unknown>>
  readonly text?: string
}

/** Programs get progress every hundredth of the way, people every tenth. */
const eventShare = 100
const textEvery = 10

interface Seen {
  phase: string
  text: string
  planNumber: number
  progress: number
  validations: number
  log: JobView['log']
  readonly members: Map<string, string>
}

/** A function that is told every state of one job and says what changed since the last. */
export function createChanges(): (job: JobView) => Change[] {
  const seen: Seen = {
    phase: '',
    text: '',
    planNumber: 0,
    progress: 0,
    validations: 0,
    log: [],
    members: new Map(),
  }
  return (job) => [
    ...phaseChanges(seen, job),
    ...logChanges(seen, job),
    ...memberChanges(seen, job.members),
    ...planChanges(seen, job),
    ...progressChanges(seen, job),
    ...validationChanges(seen, job),
  ]
}

function phaseChanges(seen: Seen, job: JobView): Change[] {
  const { phase, text } = job
  if (seen.phase === phase && seen.text === text) return []
  const newPhase = seen.phase !== phase
  seen.phase = phase
  seen.text = text
  const tell = newPhase || phase !== 'training'
  const line = text === '' ? phase : harmless(text)
  return [{ event: { event: 'phase', phase, text }, ...(tell ? { text: line } : {}) }]
}

/** Old entries fall out of the front of a log: what follows the last one we saw is new. */
function logChanges(seen: Seen, job: JobView): Change[] {
  const last = seen.log.at(-1)
  const known = job.log.findLastIndex((entry) => entry.atMs === last?.atMs && entry.text === last.text)
  seen.log = job.log
  return job.log
    .slice(known + 1)
    .map(({ atMs, text }) => ({ event: { event: 'log', atMs, text }, text: harmless(text) }))
}

function memberChanges(seen: Seen, members: readonly MemberView[]): Change[] {
  return members.flatMap(({ peer, displayName, state, reason }) => {
    // What a training peer waits for changes from moment to moment.
    const now = state === 'training' ? state : `${state} ${reason}`
    if (seen.members.get(peer) === now) return []
    seen.members.set(peer, now)
    return [{ event: { event: 'member', peer, displayName, state, reason } }]
  })
}

function planChanges(seen: Seen, job: JobView): Change[] {
  if (job.plan === null || job.plan.number === seen.planNumber) return []
  seen.planNumber = job.plan.number
  return [{ event: { event: 'plan', plan: job.plan } }]
}

function progressChanges(seen: Seen, job: JobView): Change[] {
  if (job.targetUpdates === 0) return []
  const progress = Math.floor((job.updates / job.targetUpdates) * eventShare)
  if (progress <= seen.progress) return []
  const tell = Math.floor(progress / textEvery) > Math.floor(seen.progress / textEvery)
  seen.progress = progress
  const { updates, targetUpdates, samples, samplesPerSecond, secondsLeft } = job
  const loss = job.trainingCurve.at(-1)?.loss ?? null
  const event = { event: 'progress', updates, targetUpdates, samples, samplesPerSecond, secondsLeft, loss }
  return [{ event, ...(tell ? { text: progressText(job) } : {}) }]
}

/** `120 of 200 updates, 60%, loss 0.214 █▅▃▂▁, 1,234 samples/s, 12–15 s left` */
function progressText(job: JobView): string {
  const points = job.trainingCurve.map(({ updates, loss }) => ({ x: updates, y: loss }))
  const loss = job.trainingCurve.at(-1)?.loss
  const share = job.targetUpdates > 0 ? job.updates / job.targetUpdates : 0
  return [
    `${formatCount(job.updates)} of ${formatCount(job.targetUpdates)} updates`,
    formatDone(share),
    ...(loss === undefined ? [] : [`loss ${formatLoss(loss)} ${sparkline(points, 16)}`]),
    formatRate(job.samplesPerSecond),
    ...(job.secondsLeft === null ? [] : [`${formatDurationRange(job.secondsLeft)} left`]),
  ].join(', ')
}

function validationChanges(seen: Seen, job: JobView): Change[] {
  const fresh = job.validationCurve.filter(({ updates }) => updates > seen.validations)
  seen.validations = Math.max(seen.validations, ...fresh.map(({ updates }) => updates))
  // People read it in the job's log.
  return fresh.map(({ updates, scores }) => ({ event: { event: 'validation', updates, ...scores } }))
}
