/** What can go wrong in the desktop only. */
import { PoolError } from '../../shared/errors.ts'

/** Something other than our window spoke on one of its channels. */
export class ForeignSenderError extends PoolError {
  readonly kind = 'bad-input'
  readonly code = 'foreign-sender'
}

/** The agent's program ended before it was ready, or could not be started at all. */
export class AgentStartError extends PoolError {
  readonly kind = 'bug'
  readonly code = 'agent-start'
}
