/** What can go wrong, once for every process. A class says what happened, its kind what we do about it. */

/** What the program does: drop the peer · tell the user · shrink or leave · stay silent · stop this job and log. */
export type ErrorKind = 'peer-fault' | 'bad-input' | 'out-of-resource' | 'aborted' | 'bug'

/** An error that crossed a border: the class stays behind, kind and code travel. */
export interface ErrorReport {
  readonly kind: ErrorKind
  /** Stable and machine-readable, for example `does-not-fit`. */
  readonly code: string
  /** One sentence for a person that says what to do. */
  readonly message: string
}

/** The base of every error of ours. Callers decide by `kind` and `code`, never by text. */
export abstract class PoolError extends Error {
  abstract readonly kind: ErrorKind
  abstract readonly code: string
}

/** A peer sent nothing for too long, or its connection is gone. Its cluster stops; the job goes on. */
export class PeerLostError extends PoolError {
  readonly kind = 'peer-fault'
  readonly code = 'peer-lost'
}

/** A peer sent what no honest peer of this version sends: a malformed frame, a wrong shape, a wrong length. */
export class BadMessageError extends PoolError {
  readonly kind = 'peer-fault'
  readonly code = 'bad-message'
}

/** A peer refused, with one of the refusals of `messages/wire.ts` as its code. */
export class RefusedError extends PoolError {
  readonly kind = 'peer-fault'
  readonly code: string
  constructor(refusal: string, message: string) {
    super(message)
    this.code = refusal
  }
}

/** A shard's bytes do not have the hash that its manifest names, again after a second fetch. */
export class CorruptShardError extends PoolError {
  readonly kind = 'peer-fault'
  readonly code = 'corrupt-shard'
}

/** A setting, file or argument of the user's is not usable. The message names it and says what is expected. */
export class InvalidInputError extends PoolError {
  readonly kind = 'bad-input'
  readonly code = 'invalid-input'
}

/** The pool's memory cannot hold the model. */
export class DoesNotFitError extends PoolError {
  readonly kind = 'bad-input'
  readonly code = 'does-not-fit'
  /** The least by which the pool's memory would have to grow. */
  readonly shortfallBytes: number
  constructor(shortfallBytes: number, message: string) {
    super(message)
    this.shortfallBytes = shortfallBytes
  }
}

/** An invite that is malformed, expired, or whose secret the host does not know. */
export class InvalidInviteError extends PoolError {
  readonly kind = 'bad-input'
  readonly code = 'invalid-invite'
}

/** Another agent already runs on this home folder, or another program holds the port. */
export class AlreadyInUseError extends PoolError {
  readonly kind = 'bad-input'
  readonly code = 'already-in-use'
}

/** No agent answers on the control socket. */
export class AgentNotRunningError extends PoolError {
  readonly kind = 'bad-input'
  readonly code = 'agent-not-running'
}

/** The device would need more tensor memory than its budget. */
export class DeviceMemoryError extends PoolError {
  readonly kind = 'out-of-resource'
  readonly code = 'device-memory'
}

/** The GPU is gone: its driver was reset or updated, or it was unplugged. The stage on it is lost; another engine may go on. */
export class DeviceLostError extends PoolError {
  readonly kind = 'out-of-resource'
  readonly code = 'device-lost'
}

/** The disk took no more bytes. What was saved before is untouched. */
export class DiskFullError extends PoolError {
  readonly kind = 'out-of-resource'
  readonly code = 'disk-full'
}

/** Someone asked for it to stop. */
export class AbortedError extends PoolError {
  readonly kind = 'aborted'
  readonly code = 'aborted'
}

/** A promise of our own code does not hold. */
export class InvariantError extends PoolError {
  readonly kind = 'bug'
  readonly code = 'invariant'
}

/** The report of any thrown value: ours as it is, anything else as a bug. */
export function reportOf(thrown: unknown): ErrorReport {
  if (thrown instanceof PoolError) return { kind: thrown.kind, code: thrown.code, message: thrown.message }
  if (thrown instanceof Error && thrown.name === 'AbortError') {
    return { kind: 'aborted', code: 'aborted', message: thrown.message }
  }
  return {
    kind: 'bug',
    code: 'unexpected',
    message: thrown instanceof Error ? thrown.message : String(thrown),
  }
}
