/** Collecting members: who may come in, who is told, and when it is enough. */
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import type { Refusal } from '../../../../shared/messages/wire.ts'
import { second } from '../../../../shared/units.ts'
import type { Sender } from '../../ports.ts'
import { summaryOf } from '../job-summary.ts'
import type { HostState } from './host-state.ts'

const saidWith: Partial<Record<Refusal, string>> = {
  'wrong-secret': 'the host does not know this invite; ask for a new one',
  'invite-expired': 'this invite has expired; ask the host for a new one',
  'not-a-member': 'the host removed this PC from the job; ask the host why',
  'already-training': 'the training has already begun; ask the host to invite you to the next run',
}

/** Wait until so many peers are there, the host says start, or the time is up. */
export async function gather(host: HostState, signal: AbortSignal): Promise<void> {
  const { peers, deadlineSeconds } = host.hosted.gathering
  const enough = () => host.startNow || (peers !== undefined && host.roll.present.length >= peers)
  host.enter(
    'gathering',
    peers === undefined ? 'waiting for members' : `waiting for members: ${peers} are needed`,
  )
  const came = await host.watch.until(enough, { signal, withinMs: deadlineSeconds * second })
  if (!came)
    host.log.say(`nobody more came within ${deadlineSeconds} s; starting with ${host.roll.present.length}`)
}

/** Tell a stranger with the invite's secret what the job is; nothing is joined. */
export function answerSummary(
  host: HostState,
  from: Sender,
  { header }: WireMessage<'job-summary-request'>,
): void {
  const { hosted, roll } = host
  const refusal = hosted.checkSecret(header.secret)
  if (refusal !== undefined) {
    void host.send(from.peer, { type: 'refused', refusal, text: saidWith[refusal] ?? refusal })
    return
  }
  const hostName = hosted.device.displayName
  void host.send(from.peer, {
    type: 'job-summary',
    ...summaryOf(hosted.spec),
    ...{ hostName, members: roll.present.length, open: host.phase === 'gathering' },
  })
}

/** Answer a stranger who wants to join. */
export async function answerJoin(
  host: HostState,
  from: Sender,
  { header }: WireMessage<'join-request'>,
): Promise<void> {
  const { hosted, roll } = host
  const known = roll.get(from.peer)
  const refusal =
    hosted.checkSecret(header.secret) ??
    (host.removed.has(from.peer) ? 'not-a-member' : undefined) ??
    // A member that lost its connection while gathering may come again; nobody comes into a run under way.
    (host.phase === 'gathering' || known?.state === 'joined' ? undefined : 'already-training')
  if (refusal !== undefined) {
    void host.send(from.peer, { type: 'refused', refusal, text: saidWith[refusal] ?? refusal })
    return
  }
  const certificate = await hosted.issueCertificate(from.peer)
  roll.enroll(from.peer, header.device, header.addresses)
  void host.send(from.peer, { type: 'admitted', certificate, name: hosted.spec.name })
  if (known === undefined) host.log.say(`${header.device.displayName} joined (${header.device.backend})`)
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
