/** Several agents of a pool on the host's own machine, as in a demo: they compute on the same processors, all at once. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { SharedProcessors } from '../../planner/shared-processors.ts'
import type { Enrolled } from './roll.ts'

/** An address that no other machine can reach. */
const isLoopback = (address: string) => /^\/(ip4\/127\.|ip6\/::1\/)/.test(address)

/**
 * Whoever can be reached on loopback alone is where the host is. Undefined where the host is alone on its machine, as far
 * as addresses tell.
 */
export function sharedProcessors(
  members: readonly Pick<Enrolled, 'peer' | 'addresses'>[],
  host: PeerId,
  processors: number | undefined,
): SharedProcessors | undefined {
  const here = members.filter(
    ({ peer, addresses }) => peer === host || (addresses.length > 0 && addresses.every(isLoopback)),
  )
  if (processors === undefined || here.length < 2) return undefined
  return { peers: new Set(here.map(({ peer }) => peer)), processors }
}
