/** A newcomer at the host's door: ask once, hear yes or no. */
import { InvalidInviteError, PeerLostError, RefusedError } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { second } from '../../../shared/units.ts'
import type { Clock, Links, Sender } from '../ports.ts'
import { createWatch } from './watch.ts'

/** A host answers at once; a relay and a slow line take a little. */
const answerWithinMs = 30 * second

/**
 * Ask the host to let us in.
 *
 * @throws InvalidInviteError when the invite does not open the job; RefusedError when the host takes nobody;
 * PeerLostError when it is not there
 */
export async function requestAdmission(
  ports: { readonly links: Links; readonly clock: Clock },
  host: PeerId,
  request: Omit<Header<'join-request'>, 'type' | 'plan'>,
  signal: AbortSignal,
): Promise<Header<'admitted'>> {
  const { links, clock } = ports
  const watch = createWatch(clock)
  let answer: Header<'admitted'> | Header<'refused'> | undefined
  let lost: string | undefined
  const unsubscribe = links.onMessage((from: Sender, { header }: WireMessage) => {
    if (from.peer === host && (header.type === 'admitted' || header.type === 'refused')) answer = header
    watch.notify()
  })
  const unwatch = links.onLost((peer, reason) => {
    if (peer === host) lost = reason
    watch.notify()
  })
  try {
    await links.send(host, { header: { type: 'join-request', plan: 0, ...request }, tensors: [] }, signal)
    await watch.until(() => answer !== undefined || lost !== undefined, { signal, withinMs: answerWithinMs })
  } finally {
    unsubscribe()
    unwatch()
  }
  if (answer?.type === 'admitted') return answer
  if (answer === undefined)
    throw new PeerLostError(
      `the host does not answer${lost === undefined ? '' : ` (${lost})`}; is its job still open?`,
    )
  if (answer.refusal === 'already-training') throw new RefusedError(answer.refusal, answer.text)
  throw new InvalidInviteError(answer.text)
}
