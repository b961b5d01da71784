/** This agent's part in a job: the only face of core. A host takes part with its own PC, too. */
import { reportOf } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { JobPhase, JobResult, JobView } from '../../../shared/messages/control.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import { type Millis, second } from '../../../shared/units.ts'
import type { Sender } from '../ports.ts'
import { Pace } from './forecast.ts'
import { createHost } from './host/host.ts'
import type { HostedJob, HostPorts } from './host/host-state.ts'
import type { MemberPorts, Membership } from './member/member-ports.ts'
import { endingRound, viewOfMember } from './member/member-view.ts'
import type { MemberState } from './member/member-state.ts'
import { withNews } from './member/news-view.ts'
import { Member } from './member/member.ts'

/** A job under way here. Commands go down, `view` is the state that goes up. */
export interface Participation {
  readonly ended: Promise<JobResult>
  view(): Omit<JobView, 'invite'>
  pause(): void
  /** Pause when the averaging round under way is over. False: none is, and this PC pauses at once. */
  pauseAfterRound(): boolean
  resume(): void
  /** Host: plan now. */
  startNow(): void
  /** Host: end early, keep the model. */
  finish(): void
  /** Member: hand over and go; said again, go at once. Host: stop without a model. */
  leave(): void
  /** This program ends. Host: the job does not; what was learned is written down first. Member: hand over and go. */
  suspend(): Promise<void>
  /** Host: send a member away. False when there is no such member, and for a member of another's job. */
  removeMember(peer: PeerId): boolean
  /** What this PC itself does. */
  own(): OwnPart
}

interface Router {
  readonly deliver: (from: Sender, message: WireMessage) => void
  readonly lost: (peer: PeerId, reason: string) => void
  /** A fault of our own, met while a message was taken: the job stops here, the agent lives. */
  readonly onFault: (error: unknown) => void
}

export interface OwnPart {
  readonly state: MemberState['name']
  /** A pause that this PC asked for is in force or on its way. */
  readonly pausesByUs: boolean
  /** Since it took its stage. */
  readonly samples: number
}

const ownPart = (member: Member): OwnPart => ({
  state: member.state.name,
  pausesByUs: member.ownPause.isAsked(),
  samples: member.lastReport.samples,
})

/** The job trains on, and so do we, but not for long: the host's own PC pauses after the round. */
function withOwnPause<V extends { readonly phase: JobPhase; readonly text: string }>(
  view: V,
  { state }: Member,
): V {
  const ending = view.phase === 'training' && state.name === 'ending-round'
  return ending ? { ...view, text: endingRound } : view
}

/** Whoever ends this program waits for no more. */
const suspendWithinMs = 8 * second

/** Messages to whom they are for; what no honest peer sends is logged and dropped. */
function route(ports: MemberPorts, { deliver, lost, onFault }: Router): () => void {
  const unsubscribe = ports.links.onMessage((from, message) => {
    try {
      deliver(from, message)
    } catch (error) {
      const { kind, message: text } = reportOf(error)
      ports.log('warn', `${from.peer} sent what cannot be used (${message.header.type}): ${text}`)
      if (kind === 'bug') onFault(error)
    }
  })
  const unwatch = ports.links.onLost(lost)
  return () => {
    unsubscribe()
    unwatch()
  }
}

type HostingPorts = MemberPorts & HostPorts

/** Host a job and train in it. */
export function hostJob(ports: HostingPorts, hosted: HostedJob, onChange: () => void): Participation {
  const { self } = ports.links
  const { displayName, memoryBytes } = hosted.device
  const membership = { job: hosted.job, name: hosted.spec.name, host: self, displayName, memoryBytes }
  const stop = new AbortController()
  const member = new Member(ports, membership, onChange)
  const host = createHost(ports, hosted, member.numbers.donor)
  const unroute = route(ports, {
    deliver(from, message) {
      if (host.isFor(from.peer, message.header.type)) host.deliver(from, message)
      else if (from.standing !== 'stranger') member.deliver(from.peer, message)
      onChange()
    },
    lost(peer, reason) {
      host.lost(peer, reason)
      onChange()
    },
    onFault(error) {
      ports.log('error', 'the job stops: a fault of our own', { stack: (error as Error).stack })
      stop.abort()
    },
  })
  const ended = host.run(stop.signal)
  const over = ended.then(async (result) => {
    await member.ended()
    unroute()
    onChange()
    return result
  })
  return {
    ended: over,
    view: () => withOwnPause(host.view(), member),
    pause: () => {
      member.ownPause.pause()
    },
    pauseAfterRound: () => member.ownPause.pauseAfterRound(),
    resume: () => {
      member.ownPause.resume()
    },
    startNow: () => {
      host.startNow()
    },
    finish: () => {
      host.finish()
    },
    leave: () => {
      stop.abort()
    },
    async suspend() {
      await host.suspend()
      stop.abort()
      // Nobody says goodbye, not even to ourselves.
      const { outcome, reason, code } = await ended
      member.end({ outcome, reason, code })
    },
    removeMember: (peer) => host.removeMember(peer),
    own: () => ownPart(member),
  }
}

/** What a member sees of the job by itself, and what its host told it. */
function viewWithNews(
  member: Member,
  self: Parameters<typeof viewOfMember>[1],
  pace: Pace,
  nowMs: Millis,
): Omit<JobView, 'invite' | 'result'> {
  const seen = viewOfMember(member, self)
  pace.see({ atMs: nowMs, updates: seen.updates, samples: seen.samples })
  const { samplesPerSecond } = pace
  const secondsLeft = seen.phase === 'training' ? pace.secondsLeft(seen.targetUpdates) : null
  return withNews({ ...seen, samplesPerSecond, secondsLeft }, member.news, nowMs)
}

/** Take part in another PC's job, after it admitted us. */
export function joinJob(ports: MemberPorts, membership: Membership, onChange: () => void): Participation {
  const member = new Member(ports, membership, onChange)
  const pace = new Pace()
  const startedMs = ports.clock.now()
  let result: JobResult | null = null
  const unroute = route(ports, {
    deliver(from, message) {
      if (from.standing !== 'stranger') member.deliver(from.peer, message)
    },
    lost(peer, reason) {
      member.lost(peer, reason)
    },
    onFault(error) {
      member.fail(error)
    },
  })
  const self = { ...membership, peer: ports.links.self }
  const view = () => ({ ...viewWithNews(member, self, pace, ports.clock.now()), result })
  const ended = member.ended().then((outcome): JobResult => {
    unroute()
    const { updates, samples, sent, maxStaleness } = member.lastReport
    result = {
      code: outcome.outcome,
      ...outcome,
      model: null,
      validation: null,
      updates,
      samples,
      seconds: (ports.clock.now() - startedMs) / 1000,
      bytesSent: sent,
      maxStaleness,
    }
    onChange()
    return result
  })
  const nothing = () => undefined // only a host starts and finishes a job
  return {
    ended,
    view,
    pause: () => {
      member.ownPause.pause()
    },
    pauseAfterRound: () => member.ownPause.pauseAfterRound(),
    resume: () => {
      member.ownPause.resume()
    },
    startNow: nothing,
    finish: nothing,
    leave: () => {
      member.departure.leave('left on purpose')
    },
    async suspend() {
      member.departure.leave('its agent was ended', suspendWithinMs)
      await member.ended()
    },
    removeMember: () => false,
    own: () => ownPart(member),
  }
}
