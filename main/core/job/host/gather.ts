/** Collecting members: who may come in, who is told, and when it is enough. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { Outlook } from '../../../../shared/messages/cards.ts'
import type { Refusal, WireMessage } from '../../../../shared/messages/wire.ts'
import type { RunBook } from '../../../../shared/job/run-book.ts'
import { second } from '../../../../shared/units.ts'
import type { Sender } from '../../ports.ts'
import type { LentPc } from '../join-estimate.ts'
import { summaryOf } from '../job-summary.ts'
import { positionOf } from '../plan-in-force.ts'
import { dropPeer } from './drop.ts'
import type { HostState } from './host-state.ts'

const saidWith: Partial<Record<Refusal, string>> = {
  'wrong-secret': 'the host does not know this invite; ask for a new one',
  'invite-expired': 'this invite has expired; ask the host for a new one',
  'not-a-member': 'the host removed this PC from the job; ask the host why',
  'too-late': 'the training is about to end; ask the host to invite you to the next run',
}

/**
 * A run that goes on waits for those who were in it and still are: they call every second. Who is later comes in as they
 * do in any run, and where those present cannot hold the model the plan waits.
 */
const comeBackWithinSeconds = 4

/** Wait until so many peers are there, the host says start, or the time is up. */
export async function gather(host: HostState, signal: AbortSignal): Promise<void> {
  const { gathering, resume } = host.hosted
  const peers = resume === undefined ? gathering.peers : resume.book.members.filter(isAwaited).length + 1
  const deadlineSeconds = resume === undefined ? gathering.deadlineSeconds : comeBackWithinSeconds
  const enough = () => host.startNow || (peers !== undefined && host.roll.present.length >= peers)
  host.enter('gathering', waitingText(peers, resume !== undefined))
  const came = await host.watch.until(enough, { signal, withinMs: deadlineSeconds * second })
  if (!came)
    host.log.say(`nobody more came within ${deadlineSeconds} s; starting with ${host.roll.present.length}`)
}

const isAwaited = ({ left }: RunBook['members'][number]): boolean => !left

function waitingText(peers: number | undefined, goesOn: boolean): string {
  if (goesOn) return 'the run goes on; waiting for its members to come back'
  return peers === undefined ? 'waiting for members' : `waiting for members: ${peers} are needed`
}

/** Say no, in words for a person. */
export function refuse(host: HostState, peer: PeerId, refusal: Refusal): void {
  void host.send(peer, { type: 'refused', refusal, text: saidWith[refusal] ?? refusal })
}

/** Tell a stranger with the invite's secret what the job is; nothing is joined. */
export async function answerSummary(
  host: HostState,
  from: Sender,
  {
    message: { header },
    look,
  }: {
    readonly message: WireMessage<'job-summary-request'>
    readonly look: (guest: LentPc) => Promise<Outlook | undefined>
  },
): Promise<void> {
  const { hosted, roll } = host
  const refusal = hosted.checkSecret(header.secret)
  if (refusal !== undefined) {
    refuse(host, from.peer, refusal)
    return
  }
  const hostName = hosted.device.displayName
  const outlook = isClosing(host) ? undefined : await look(header.lends)
  void host.send(from.peer, {
    type: 'job-summary',
    ...summaryOf(hosted.spec),
    ...{ hostName, members: roll.present.length, open: !isClosing(host), outlook: outlook ?? null },
  })
}

/** The run ends: nobody new would train any more. */
const isClosing = ({ finishing, phase }: HostState): boolean =>
  finishing || phase === 'finishing' || phase === 'ended'

/** The one who is back held a part of the model, and the run cannot end well without it. */
const isMissed = ({ plan, phase }: HostState, peer: PeerId): boolean =>
  phase === 'finishing' && plan !== undefined && positionOf(plan, peer) !== undefined

/** Who is known comes back without a secret: the swarm vouches for its identity, and an invite may have ended meanwhile. */
export function refusalOf(host: HostState, peer: PeerId, secret: string): Refusal | undefined {
  if (host.removed.has(peer)) return 'not-a-member'
  const known = host.roll.get(peer) !== undefined
  const wrong = known ? undefined : host.hosted.checkSecret(secret)
  return wrong ?? (isClosing(host) && !isMissed(host, peer) ? 'too-late' : undefined)
}

/** Answer a stranger who wants to join. */
export async function answerJoin(
  host: HostState,
  from: Sender,
  { header }: WireMessage<'join-request'>,
): Promise<void> {
  const { hosted, roll } = host
  const refusal = refusalOf(host, from.peer, header.secret)
  if (refusal !== undefined) {
    refuse(host, from.peer, refusal)
    return
  }
  const certificate = await hosted.issueCertificate(from.peer)
  const isBack = roll.get(from.peer) !== undefined
  // Its agent started anew before we noticed that the old one is gone: whatever stage it had is lost.
  if (isBack && host.phase !== 'gathering') dropPeer(host, from.peer, 'its agent was started again')
  roll.enroll(from.peer, header.device, header.addresses)
  void host.send(from.peer, { type: 'admitted', certificate, name: hosted.spec.name })
  const deed = isBack ? 'is back' : 'joined'
  host.log.say(`${header.device.displayName} ${deed} (${header.device.backend})`)
  if (host.phase !== 'gathering') host.unplanned = `${header.device.displayName} ${deed}`
  sendRoster(host)
  host.watch.notify()
}

/** Tell everyone who is there and where. */
export function sendRoster(host: HostState): void {
  const members = host.roll.present.map(({ peer, device, addresses }) => ({
    peer,
    displayName: device.displayName,
    addresses: [...addresses],
  }))
  host.broadcast({ type: 'roster', members })
}
