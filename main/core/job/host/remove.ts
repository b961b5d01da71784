/** A member that the host sends away. */
import type { PeerId } from '../../../../shared/ids.ts'
import { dropPeer } from './drop.ts'
import { sendRoster } from './gather.ts'
import type { HostState } from './host-state.ts'

/** For good: it hears why, and its invite opens the job no more. False when there is no such member. */
export function removePeer(host: HostState, peer: PeerId): boolean {
  if (peer === host.ports.links.self || !host.roll.isPresent(peer)) return false
  host.removed.add(peer)
  void host.send(peer, {
    type: 'job-ended',
    outcome: 'stopped',
    reason: 'the host removed this PC from the job',
  })
  dropPeer(host, peer, 'removed by the host')
  if (host.phase === 'gathering') sendRoster(host)
  return true
}
