/** Commands of a host about its own job. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { Participation } from '../../core/job/participant.ts'
import { currentOf, hostedOf, type AgentParts } from '../agent-parts.ts'
import type { HandlersOf } from './handlers.ts'
import { isUnderWay } from '../take-up.ts'

/** @throws InvalidInputError where this agent hosts nothing */
function hosted(parts: AgentParts) {
  const job = hostedOf(currentOf(parts))
  if (job === undefined || !isUnderWay(parts))
    throw new InvalidInputError('only the host of a job can do that')
  return job
}

function remove({ swarm }: AgentParts, participation: Participation, peer: string): void {
  if (peer === swarm.self) throw new InvalidInputError('this is the host’s own PC; `leave` stops the job')
  if (!participation.removeMember(peer)) throw new InvalidInputError('there is no such member in the job')
}

export function hostCommands(parts: AgentParts): HandlersOf<'start' | 'finish' | 'invite' | 'removeMember'> {
  /** A deed whose error is the answer. */
  const told = <T>(deed: () => T): Promise<T> =>
    Promise.resolve().then(() => {
      const output = deed()
      parts.changes.ring()
      return output
    })
  return {
    // A member's start and finish mean nothing, as they always have.
    start: () =>
      told(() => {
        currentOf(parts).participation.startNow()
        return null
      }),
    finish: () =>
      told(() => {
        currentOf(parts).participation.finish()
        return null
      }),
    invite: () => told(() => ({ invite: hosted(parts).newInvite() })),
    removeMember: ({ peer }) =>
      told(() => {
        remove(parts, hosted(parts).participation, peer)
        return null
      }),
  }
}
