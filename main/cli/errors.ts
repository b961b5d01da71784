/** What can go wrong in the command line itself, and the exit code of everything that went wrong. */
import { PoolError, reportOf } from '../../shared/errors.ts'

/** Exit codes are a promise to scripts. */
export const exitCodes = { done: 0, failure: 1, badInput: 2 } as const

/** The agent of this command ended before the command was done. */
export class AgentEndedError extends PoolError {
  readonly kind = 'bug'
  readonly code = 'agent-ended'
}

/** A job that this command followed did not come to a good end. */
export class JobFailedError extends PoolError {
  readonly kind = 'peer-fault'
  readonly code = 'job-failed'
}

export function exitCodeOf(thrown: unknown): number {
  return reportOf(thrown).kind === 'bad-input' ? exitCodes.badInput : exitCodes.failure
}
