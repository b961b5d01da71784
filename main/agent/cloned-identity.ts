/** Another PC lives under this one's identity, as after a copied Rookery folder: one of the two has to become a new peer. */
import { join } from 'node:path'
import { RefusedError } from '../../shared/errors.ts'
import type { Log } from '../core/ports.ts'
import { replaceIdentity } from '../edge/identity/identity.ts'
import { clonedIdentity } from '../edge/swarm/links/hello.ts'
import type { Swarm } from '../edge/swarm/swarm.ts'

interface OwnParts {
  readonly home: string
  readonly swarm: Pick<Swarm, 'self'>
  readonly log: Log
}

/** The error to tell. Of a second one: after this PC has made itself an identity of its own. @throws InvalidInputError */
export async function toldOfClone({ home, swarm, log }: OwnParts, error: unknown): Promise<unknown> {
  if (!(error instanceof RefusedError) || error.code !== clonedIdentity) return error
  await replaceIdentity(join(home, 'identity.json'), swarm.self)
  const text =
    'another PC takes part under the identity of this one (was its Rookery folder copied?): this PC has an identity of its own from the next start on; start Rookery again, then join'
  log('warn', text)
  return new RefusedError(clonedIdentity, text)
}
