/** What this PC is doing, in a word, a reason and a page title: the same for side bar, Home and the document's title. */
import type { DesktopState } from '../../../shared/messages/ipc.ts'
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import type { LimitState } from '../../../shared/limits.ts'
import { duration, moment, samplesPerSecond } from './numbers.ts'
import { asSentence, asTitle } from './sentence.ts'

export type Tone = 'training' | 'paused' | 'waiting' | 'trouble' | 'idle'

export interface PcState {
  readonly tone: Tone
  readonly word: string
  /** Why, in a few words. */
  readonly detail: string
  /** What the one button of the side bar does. */
  readonly button: 'pause' | 'resume' | 'start' | 'none'
}

/** The first limit that makes us pause. */
export const pausingLimit = (snapshot: Snapshot): LimitState | undefined =>
  snapshot.limits.find(({ state }) => state === 'pausing')

export const jobRuns = (snapshot: Snapshot | null): boolean =>
  snapshot?.job?.result === null && snapshot.job.phase !== 'ended'

const waits: Partial<Record<JobView['phase'], string>> = {
  gathering: 'Waiting',
  planning: 'Planning',
  preparing: 'Getting ready',
  draining: 'Finishing up',
  finishing: 'Finishing',
}

function stateOfJob(job: JobView, self: string): PcState {
  const me = job.members.find(({ peer }) => peer === self)
  if (job.phase === 'training' && me?.state === 'idle')
    return { tone: 'waiting', word: 'Waiting', detail: me.reason || job.text, button: 'pause' }
  if (job.phase === 'training') {
    const pace =
      job.samplesPerSecond > 0
        ? `pool: ${samplesPerSecond(job.samplesPerSecond)}`
        : 'the first samples are under way'
    return { tone: 'training', word: 'Training', detail: pace, button: 'pause' }
  }
  // Whoever paused here is known before; what else a paused job says is whom it waits for.
  if (job.phase === 'paused' && job.text === 'paused')
    return { tone: 'paused', word: 'Paused', detail: job.text, button: 'pause' }
  return { tone: 'waiting', word: waits[job.phase] ?? 'Waiting', detail: job.text, button: 'pause' }
}

function withoutAgent(desktop: DesktopState, now: number): PcState {
  if (desktop.agent !== 'stopped')
    return { tone: 'idle', word: 'Starting', detail: 'the agent starts', button: 'none' }
  const wait = desktop.nextTryAtMs === null ? undefined : Math.max(0, (desktop.nextTryAtMs - now) / 1000)
  const detail =
    wait === undefined ? 'it does not start again by itself' : `starts again in ${duration(wait)}`
  return { tone: 'trouble', word: 'Agent stopped', detail, button: 'start' }
}

function pausedState(snapshot: Snapshot, now: number): PcState | undefined {
  const { pausedByUser } = snapshot
  if (pausedByUser !== null) {
    const { untilMs } = pausedByUser
    const until = untilMs === null ? 'until you resume' : `until ${moment(untilMs, now)}`
    return { tone: 'paused', word: 'Paused', detail: until, button: 'resume' }
  }
  const limit = pausingLimit(snapshot)
  return limit && { tone: 'paused', word: 'Paused', detail: limit.reason, button: 'none' }
}

function stateWithAgent(snapshot: Snapshot, now: number): PcState {
  const paused = pausedState(snapshot, now)
  if (paused !== undefined) return paused
  const { job } = snapshot
  if (snapshot.pauseAfterRound !== null)
    return {
      tone: 'training',
      word: 'Training',
      detail: 'finishing this round, then pausing',
      button: 'pause',
    }
  if (job !== null && jobRuns(snapshot)) return stateOfJob(job, snapshot.self)
  if (snapshot.comesBackTo !== null)
    return { tone: 'waiting', word: 'Coming back', detail: `to “${snapshot.comesBackTo}”`, button: 'none' }
  return { tone: 'idle', word: 'Idle', detail: job === null ? 'no job' : 'the job has ended', button: 'none' }
}

/** Total: every pair of states has a word. */
export function stateOfPc(snapshot: Snapshot | null, desktop: DesktopState | null, now: number): PcState {
  if (desktop !== null && desktop.agent !== 'running') return withoutAgent(desktop, now)
  if (snapshot !== null) return stateWithAgent(snapshot, now)
  return { tone: 'idle', word: 'Starting', detail: 'waiting for the agent', button: 'none' }
}

function pausedHeading(snapshot: Snapshot | null, detail: string): string {
  if (snapshot !== null && snapshot.pausedByUser !== null) return `Paused ${detail}`
  if (snapshot !== null && pausingLimit(snapshot) !== undefined) return 'Paused by your limits'
  return detail === 'paused' ? 'Paused' : `Paused: ${asTitle(detail)}`
}

/** No job runs here, and this PC asks to be taken back into one. */
export const comesBack = (snapshot: Snapshot): boolean => snapshot.comesBackTo !== null && !jobRuns(snapshot)

export const comesBackTitle = ({ comesBackTo }: Snapshot): string => `Coming back to “${comesBackTo ?? ''}”…`

export const comesBackLead =
  'This PC was in that job when its host or its own agent was lost. Rookery asks the host again and again, for half an hour, unless you join or host another job.'

/** The heading of Home. */
export function headingOf(snapshot: Snapshot | null, state: PcState): string {
  if (state.tone === 'trouble') return 'Not training'
  if (state.tone === 'paused') return pausedHeading(snapshot, state.detail)
  if (snapshot !== null && comesBack(snapshot)) return comesBackTitle(snapshot)
  if (snapshot?.job == null || !jobRuns(snapshot))
    return state.word === 'Starting' ? 'Starting' : 'Nothing is running'
  if (state.tone === 'training') return `Training “${snapshot.job.name}”`
  return `${state.word} for “${snapshot.job.name}”`
}

/** What this PC holds of a job's model, and with how many others. */
function shareWords(job: JobView, self: string, trains: boolean): string {
  const stages = (job.plan?.layout.clusters ?? []).flatMap(({ stages: row }) => row)
  const mine = stages.find(({ peer }) => peer === self)
  if (mine === undefined) return asSentence(job.text)
  const layers = Math.max(...stages.map((stage) => stage.layers[1]))
  const held = mine.layers[1] - mine.layers[0]
  const others = stages.length - 1
  if (!trains) return `This PC holds ${held} of the ${layers} layers of “${job.name}”.`
  if (others === 0) return `This PC holds all ${layers} layers and trains alone; more PCs can join.`
  return `This PC holds ${held} of the ${layers} layers and trains them with ${others} other ${others === 1 ? 'PC' : 'PCs'}.`
}

/** The sentence under it. */
export function leadOf(snapshot: Snapshot | null, tone: Tone): string {
  const job = snapshot?.job
  if (snapshot != null && comesBack(snapshot)) return comesBackLead
  if (snapshot == null || job == null)
    return 'Rookery trains nothing until you join a job or host one. It needs no account.'
  if (job.result !== null) return `“${job.name}” has ended: ${asSentence(job.result.reason)}`
  const share = shareWords(job, snapshot.self, tone === 'training')
  const text = asSentence(job.text)
  return tone === 'waiting' && share !== text ? `${text} ${share}` : share
}
