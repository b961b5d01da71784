/** A newcomer at the host's door: ask once, hear yes or no. */
import { InvalidInviteError, PeerLostError, type PoolError, RefusedError } from '../../../shared/errors.ts'
import type { JobId, PeerId } from '../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { second } from '../../../shared/units.ts'
import type { Clock, Links, Sender } from '../ports.ts'
import type { LentPc } from './join-estimate.ts'
import { createWatch } from './watch.ts'

/** A host answers at once; a relay and a slow line take a little. */
const answerWithinMs = 30 * second

interface Question<T> {
  readonly host: PeerId
  readonly message: Header<'join-request' | 'job-summary-request'>
  readonly signal: AbortSignal
  /** The answer that was waited for, made of a message of the host's; undefined for any other. */
  readonly accept: (message: WireMessage, from: Sender) => T | undefined
}

interface AdmissionRequest<T> {
  readonly host: PeerId
  readonly request: Omit<Header<'join-request'>, 'type' | 'plan'>
  readonly signal: AbortSignal
  /** Called as soon as the host says yes: what it sends next must find its handler. */
  readonly onAdmitted: (admitted: Header<'admitted'>) => T
}

interface DoorPorts {
  readonly links: Links
  readonly clock: Clock
}

/**
 * Ask the host to let us in.
 *
 * @throws InvalidInviteError when the invite does not open the job; RefusedError when the host takes nobody;
 * PeerLostError when it is not there
 */
export function requestAdmission<T>(
  ports: DoorPorts,
  { host, request, signal, onAdmitted }: AdmissionRequest<T>,
): Promise<T> {
  return askHost(ports, {
    ...{ host, signal },
    message: { type: 'join-request', plan: 0, ...request },
    accept: ({ header }) => (header.type === 'admitted' ? onAdmitted(header) : undefined),
  })
}

/**
 * Ask the host what its job is; nothing is joined. Only an answer under the job's own certificate counts.
 *
 * @throws as `requestAdmission`
 */
export function requestSummary(
  ports: DoorPorts,
  asked: {
    readonly host: PeerId
    readonly job: JobId
    readonly secret: string
    readonly lends: LentPc
    readonly signal: AbortSignal
  },
): Promise<Header<'job-summary'>> {
  const { host, job, secret, lends, signal } = asked
  return askHost(ports, {
    ...{ host, signal },
    message: { type: 'job-summary-request', plan: 0, job, secret, lends },
    accept: ({ header }, { standing }) =>
      header.type === 'job-summary' && standing === 'host' ? header : undefined,
  })
}

async function askHost<T>({ links, clock }: DoorPorts, question: Question<T>): Promise<T> {
  const { host, message, signal, accept } = question
  const watch = createWatch(clock)
  const answer: { accepted?: { readonly it: T }; refused?: Header<'refused'>; lost?: string } = {}
  const unsubscribe = links.onMessage((from: Sender, heard: WireMessage) => {
    if (from.peer !== host || answer.accepted !== undefined) return
    if (heard.header.type === 'refused') answer.refused = heard.header
    const accepted = accept(heard, from)
    if (accepted !== undefined) {
      unsubscribe()
      answer.accepted = { it: accepted }
    }
    watch.notify()
  })
  const unwatch = links.onLost((peer, reason) => {
    if (peer === host) answer.lost = reason
    watch.notify()
  })
  try {
    await links.send(host, { header: message, tensors: [] }, signal)
    await watch.until(() => Object.keys(answer).length > 0, { signal, withinMs: answerWithinMs })
  } finally {
    unsubscribe()
    unwatch()
  }
  if (answer.accepted !== undefined) return answer.accepted.it
  throw refusalOf(answer)
}

function refusalOf({
  refused,
  lost = 'no answer',
}: {
  refused?: Header<'refused'>
  lost?: string
}): PoolError {
  if (refused === undefined)
    return new PeerLostError(`the host does not let us in (${lost}); is its job still open?`)
  if (refused.refusal === 'too-late') return new RefusedError(refused.refusal, refused.text)
  return new InvalidInviteError(refused.text)
}
