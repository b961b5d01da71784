/** A newcomer at the host's door: ask once, hear yes or no. */
import { InvalidInviteError, PeerLostError, type PoolError, RefusedError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { second } from '../../../shared/units.ts'
import type { Clock, Links, Sender } from '../ports.ts'
import { createWatch } from './watch.ts'

/** A host answers at once; a relay and a slow line take a little. */
const answerWithinMs = 30 * second

interface AdmissionRequest<T> {
  readonly host: PeerId
  readonly request: Omit<Header<'join-request'>, 'type' | 'plan'>
  readonly signal: AbortSignal
  /** Called as soon as the host says yes: what it sends next must find its handler. */
  readonly onAdmitted: (admitted: Header<'admitted'>) => T
}

/**
 * Ask the host to let us in.
 *
 * @throws InvalidInviteError when the invite does not open the job; RefusedError when the host takes nobody;
 * PeerLostError when it is not there
 */
export async function requestAdmission<T>(
  { links, clock }: { readonly links: Links; readonly clock: Clock },
  { host, request, signal, onAdmitted }: AdmissionRequest<T>,
): Promise<T> {
  const watch = createWatch(clock)
  const answer: { admitted?: T; refused?: Header<'refused'>; lost?: string } = {}
  const unsubscribe = links.onMessage((from: Sender, { header }: WireMessage) => {
    if (from.peer !== host) return
    if (header.type === 'refused') answer.refused = header
    if (header.type === 'admitted') {
      unsubscribe()
      answer.admitted = onAdmitted(header)
    }
    watch.notify()
  })
  const unwatch = links.onLost((peer, reason) => {
    if (peer === host) answer.lost = reason
    watch.notify()
  })
  try {
    await links.send(host, { header: { type: 'join-request', plan: 0, ...request }, tensors: [] }, signal)
    await watch.until(() => Object.keys(answer).length > 0, { signal, withinMs: answerWithinMs })
  } finally {
    if (answer.admitted === undefined) unsubscribe()
    unwatch()
  }
  if (answer.admitted !== undefined) return answer.admitted
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
  if (refused.refusal === 'already-training') return new RefusedError(refused.refusal, refused.text)
  return new InvalidInviteError(refused.text)
}
