/** What this PC is doing, as one of four icons and one sentence: for the tray, its tooltip and notifications. */
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import { hour, type Millis, minute, second } from '../../../shared/units.ts'
import { type AgentStatus, mostTries } from '../agent/supervisor.ts'

export type PcIcon = 'idle' | 'training' | 'paused' | 'trouble'

export interface PcState {
  readonly icon: PcIcon
  /** State and reason, without a full stop. */
  readonly text: string
}

/** Total: every status and snapshot is something. */
export function pcState(agent: AgentStatus, snapshot: Snapshot | undefined): PcState {
  if (agent.name === 'stopped') return { icon: 'trouble', text: stoppedText(agent) }
  if (agent.name === 'starting' || snapshot === undefined)
    return { icon: agent.tries === 0 ? 'idle' : 'trouble', text: 'Agent is starting' }
  const pause = pauseReason(snapshot)
  if (pause !== undefined) return { icon: 'paused', text: `Paused: ${pause}` }
  if (snapshot.pauseAfterRound !== null)
    return { icon: 'training', text: 'Finishing this round, then pausing' }
  return jobState(snapshot)
}

function stoppedText({ cause, nextTryAtMs, tries }: AgentStatus & { name: 'stopped' }): string {
  if (nextTryAtMs !== null) return `Agent stopped, starts again by itself (try ${tries} of ${mostTries})`
  return cause === '' ? 'Agent is not running' : `Agent does not start: ${withoutStop(cause)}`
}

/** Why it rests, or undefined while nothing of this PC holds it back. */
export function pauseReason({ pausedByUser, limits }: Snapshot): string | undefined {
  if (pausedByUser !== null) {
    const { untilMs } = pausedByUser
    return untilMs === null ? 'you paused it' : `you paused it until ${clockTime(untilMs)}`
  }
  const holding = limits.find(({ state }) => state === 'pausing')
  return holding === undefined ? undefined : withoutStop(holding.reason)
}

function jobState({ job, comesBackTo }: Snapshot): PcState {
  if (job !== null && job.phase !== 'ended') return runningState(job)
  if (comesBackTo !== null) return { icon: 'idle', text: `Coming back to “${comesBackTo}”…` }
  if (job?.result?.outcome === 'failed')
    return { icon: 'trouble', text: `${job.name} failed: ${withoutStop(job.result.reason)}` }
  return { icon: 'idle', text: 'No job' }
}

function runningState(job: JobView): PcState {
  if (job.phase === 'training' && job.stalledForSeconds === undefined)
    return { icon: 'training', text: trainingText(job) }
  return {
    icon: job.phase === 'paused' ? 'paused' : 'training',
    text: `${job.name}: ${withoutStop(job.text)}`,
  }
}

function trainingText(job: JobView): string {
  const done = job.targetUpdates === 0 ? '' : `, ${Math.floor((100 * job.updates) / job.targetUpdates)}%`
  if (job.role === 'member') return `Training ${job.name}${done}`
  const peers = job.members.filter(({ state }) => state !== 'lost').length
  return `Hosting ${job.name}, ${peers} ${peers === 1 ? 'PC' : 'PCs'}${done}`
}

/** For a tooltip: the state with speed and time left. */
export function tooltip({ text, icon }: PcState, snapshot: Snapshot | undefined): string {
  const job = snapshot?.job
  if (icon !== 'training' || job?.phase !== 'training') return `Rookery: ${text}`
  const speed = `, ${rate(job.samplesPerSecond)} samples/s`
  const left = job.secondsLeft === null ? '' : `, ${duration(job.secondsLeft[1] * second)} left at most`
  return `Rookery: ${text}${speed}${left}`
}

const rate = (perSecond: number): string => perSecond.toFixed(perSecond < 10 ? 1 : 0)

function duration(ms: Millis): string {
  if (ms < minute) return 'a minute'
  const minutes = Math.ceil(ms / minute)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(ms / hour)} h ${minutes % 60} min`
}

const clockTime = (ms: Millis): string =>
  new Date(ms).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })

const withoutStop = (sentence: string): string => sentence.replace(/\.\s*$/, '')
