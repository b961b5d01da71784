/** The host's side of a job, from the first stranger at the door to the model on disk. */
import { BadMessageError, PoolError, reportOf } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { JobResult, JobView } from '../../../../shared/messages/control.ts'
import type { WireMessage, WireType } from '../../../../shared/messages/wire.ts'
import { second } from '../../../../shared/units.ts'
import type { Sender } from '../../ports.ts'
import type { Donor } from '../moving/donor.ts'
import { suspendRun } from './checkpoints.ts'
import { noteParameters } from './collect.ts'
import { conclude } from './conclude.ts'
import { dropPeer } from './drop.ts'
import { answerJoin, answerSummary, gather, sendRoster } from './gather.ts'
import { type HostedJob, type HostPorts, HostState } from './host-state.ts'
import { viewOfHost } from './host-view.ts'
import { letThemGo, noteGone, noteLeave } from './leaves.ts'
import { Moments } from './moments.ts'
import { News } from './news.ts'
import { keepAttendance } from './keep-attendance.ts'
import { noteHeld, notePause, noteResume } from './pauses.ts'
import { Outlooks } from './outlook.ts'
import { noteReady, prepare } from './prepare.ts'
import { noteLinks } from './measure.ts'
import { removePeer } from './remove.ts'
import { noteStageReport } from './stage-reports.ts'
import { keepWhole, noteTaken, takeStock } from './take-stock.ts'
import { takeUpRun } from './run-keeping.ts'
import { resultOf, samplesTrained, updatesMade } from './run-report.ts'
import { finishEarly, noteProgress, train } from './train.ts'
import { noteValidated } from './validations.ts'

/** A member that takes no goodbye for so long notices by itself. */
const goodbyeWithinMs = 3 * second

export interface Host {
  /** The whole life of the job. Never rejects: what went wrong is in the result. */
  run(signal: AbortSignal): Promise<JobResult>
  /** Messages meant for a host. @throws BadMessageError */
  deliver(from: Sender, message: WireMessage): void
  lost(peer: PeerId, reason: string): void
  /** Whether a message is for the host rather than for the member on the same PC. */
  isFor(from: PeerId, type: WireType): boolean
  /** Plan now with whoever is there. */
  startNow(): void
  /** End early and keep the model. */
  finish(): void
  /** Write the run down as it is now: the program ends, the run does not. The caller then aborts `run`. */
  suspend(): Promise<void>
  /** Send a member away. False when there is no such member. */
  removeMember(peer: PeerId): boolean
  view(): Omit<JobView, 'invite'>
}

type Handlers = { readonly [T in WireType]?: (from: Sender, message: WireMessage<T>) => void }

function handlersOf(host: HostState, news: News): Handlers {
  const entryOf = (from: Sender) => host.roll.get(from.peer)
  return {
    rehearsed: (from, { header }) => {
      if (host.rehearsedParts.has(from.peer)) host.rehearsals.set(from.peer, header)
    },
    links: (from, { header }) => {
      const entry = entryOf(from)
      if (entry !== undefined) noteLinks(entry, header.links)
    },
    'state-taken': (from, { header }) => {
      if (header.plan >= host.layoutNumber) noteTaken(host, from.peer)
    },
    'stage-ready': (from, { header }) => {
      if (header.plan >= host.layoutNumber) noteReady(host, from.peer)
    },
    progress: (from, message) => {
      noteProgress(host, from.peer, message)
    },
    validated: (_from, message) => {
      noteValidated(host, message)
    },
    'stage-finished': (from, { header }) => {
      // Under an earlier plan: it makes its last round again, with those who are left.
      if (header.plan >= host.planNumber) host.roll.mark([from.peer], 'finished')
    },
    parameters: (from, message) => {
      noteParameters(host, from.peer, message)
    },
    'job-news-request': (from) => {
      news.startOver(from.peer)
    },
    'pause-request': (from) => {
      notePause(host, from.peer)
    },
    'resume-request': (from) => {
      noteResume(host, from.peer)
    },
    held: (from) => {
      noteHeld(host, from.peer)
    },
    'leave-request': (from) => {
      noteLeave(host, from.peer)
    },
    leaving: (from, { header }) => {
      noteGone(host, from.peer)
      dropPeer(host, from.peer, header.reason)
    },
  }
}

type Look = Parameters<typeof answerSummary>[2]['look']

/** Of strangers, and of members that the host has lost. */
const atTheDoor: readonly WireType[] = ['join-request', 'job-summary-request', 'stage-report']

/** What a member tells of a stage that it does not hold any more. */
const ofAStage: readonly WireType[] = ['progress', 'validated', 'stage-finished', 'held']
const isOfThePast = (host: HostState, { header }: WireMessage): boolean =>
  ofAStage.includes(header.type) && header.plan < host.layoutNumber

/** Messages that also those may send who are not on the roll, or lost. False for any other. */
function takeAtTheDoor(host: HostState, look: Look, from: Sender, message: WireMessage): boolean {
  const { type } = message.header
  const answered = (answer: Promise<void>) => {
    answer.catch((error: unknown) => {
      host.ports.log('warn', 'could not answer a stranger', { error: String(error) })
    })
  }
  if (type === 'join-request') answered(answerJoin(host, from, message as WireMessage<'join-request'>))
  else if (type === 'job-summary-request')
    answered(answerSummary(host, from, { message: message as WireMessage<'job-summary-request'>, look }))
  else if (type === 'stage-report') noteStageReport(host, from.peer, message as WireMessage<'stage-report'>)
  else return false
  return true
}

async function live(host: HostState, signal: AbortSignal): Promise<JobResult> {
  try {
    await gather(host, signal)
    await begin(host, signal)
    const model = await trainToTheEnd(host, signal)
    return resultOf(host, endingOf(host, model))
  } catch (error) {
    const { kind, code, message } = reportOf(error)
    if (kind === 'aborted') return resultOf(host, stoppedOf(host))
    if (!(error instanceof PoolError)) host.ports.log('error', message, { stack: (error as Error).stack })
    return resultOf(host, { outcome: 'failed', code, reason: message, model: null })
  }
}

/** With a plan; where the run has one and members went on by it, there is nothing to begin. */
async function begin(host: HostState, signal: AbortSignal): Promise<void> {
  host.unplanned = 'the host was started again'
  if (host.plan !== undefined && host.plan.active.length > 0) return
  if (host.plan !== undefined) await takeStock(host, signal)
  await prepare(host, signal)
}

/** However often the plan changes, and whoever is lost before it has handed over its part of the model. */
async function trainToTheEnd(host: HostState, signal: AbortSignal): Promise<string> {
  for (;;) {
    const ends = (await train(host, signal)) === 'over' || isDone(host)
    const model = ends ? await conclude(host, signal) : undefined
    if (model !== undefined) return model
    await takeStock(host, signal)
    letThemGo(host)
    // What was kept may be of the very end.
    if (isDone(host)) await keepWhole(host, signal)
    const kept = isDone(host) ? await conclude(host, signal) : undefined
    if (kept !== undefined) return kept
    await prepare(host, signal)
  }
}

function stoppedOf({ suspending }: HostState): Parameters<typeof resultOf>[1] {
  const said = suspending
    ? { code: 'suspended', reason: 'the host ends; the job goes on when it is started again' }
    : { code: 'aborted', reason: 'the host stopped the job' }
  return { outcome: 'stopped', model: null, ...said }
}

/** Drained for a new plan, but none is needed any more. */
const isDone = (host: HostState): boolean =>
  host.finishing || updatesMade(host) >= host.hosted.spec.target.updates

/** All the while members hear how it goes, the newest of it before they hear the end. */
async function liveAndTell(host: HostState, news: News, signal: AbortSignal): Promise<JobResult> {
  const over = new AbortController()
  const told = Promise.all([news.tell(over.signal), keepAttendance(host, over.signal)])
  const result = await live(host, signal)
  over.abort()
  await told
  await Promise.race([news.tellTheRest(), host.ports.clock.sleep(goodbyeWithinMs)])
  return result
}

function endingOf(host: HostState, model: string): Pick<JobResult, 'outcome' | 'code' | 'reason' | 'model'> {
  const outcome = host.finishing ? 'stopped' : 'finished'
  const end = host.finishing ? 'ended early by the host' : 'the target was reached'
  const lost = host.roll.all
    .filter((entry) => entry.state === 'lost')
    .map(({ peer }) => host.roll.nameOf(peer))
  const without = lost.length === 0 ? '' : `, without ${lost.join(', ')}, who left on the way`
  return { outcome, code: outcome, reason: end + without, model }
}

/** Members hear the end before the links close. */
async function sayGoodbye(host: HostState, { outcome, reason }: JobResult): Promise<void> {
  const header = { type: 'job-ended', outcome, reason: reason.slice(0, 500) } as const
  const told = Promise.all(host.roll.present.map(({ peer }) => host.send(peer, header)))
  await Promise.race([told, host.ports.clock.sleep(goodbyeWithinMs)])
}

/** @param donor - of this PC's own part: it gives out what the host holds, too */
export function createHost(ports: HostPorts, hosted: HostedJob, donor: Donor): Host {
  const host = new HostState(ports, hosted, donor)
  const moments = new Moments()
  const view = () => viewOfHost(host, { moments, result })
  const news = new News(host, view)
  const handlers = handlersOf(host, news)
  host.roll.enroll(ports.links.self, hosted.device, ports.links.addresses())
  takeUpRun(host)
  const over = new AbortController()
  const outlooks = new Outlooks(host)
  const look: Look = (guest) => outlooks.ask(guest, over.signal)
  let result: JobResult | null = null

  return {
    async run(signal) {
      result = await liveAndTell(host, news, signal)
      host.enter('ended', result.reason)
      host.log.say(`${result.outcome}: ${result.reason}`)
      over.abort()
      if (!host.suspending) await sayGoodbye(host, result)
      return result
    },
    deliver(from, message) {
      if (takeAtTheDoor(host, look, from, message)) return
      const { type } = message.header
      const handle = handlers[type] as ((from: Sender, message: WireMessage) => void) | undefined
      if (handle === undefined) throw new BadMessageError(`a host takes no ${type}`)
      if (!host.roll.isPresent(from.peer) || isOfThePast(host, message)) return
      handle(from, message)
      if (type === 'progress' && host.phase === 'training')
        host.pace.see({
          atMs: host.ports.clock.now(),
          updates: updatesMade(host),
          samples: samplesTrained(host),
        })
      host.watch.notify()
    },
    lost(peer, reason) {
      const gathering = host.phase === 'gathering'
      dropPeer(host, peer, reason)
      if (gathering) sendRoster(host)
    },
    isFor(from, type) {
      if (type === 'parameters') return host.incoming.has(from)
      return atTheDoor.includes(type) || type in handlers
    },
    startNow() {
      host.startNow = true
      host.watch.notify()
    },
    finish() {
      finishEarly(host)
      host.watch.notify()
    },
    suspend: () => suspendRun(host),
    removeMember: (peer) => removePeer(host, peer),
    view,
  }
}
