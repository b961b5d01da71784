/** What a sender may send, by its standing: strangers may ask to join, and before that what they would join. */
import { BadMessageError, RefusedError } from '../../../../shared/errors.ts'
import type { JobId } from '../../../../shared/ids.ts'
import type { FrameLimits } from '../../../../shared/messages/frame.ts'
import { trafficOf, type WireHeader, type WireType } from '../../../../shared/messages/wire.ts'
import { kibibyte } from '../../../../shared/units.ts'
import type { Sender } from '../../../core/ports.ts'
import { laneOf, type LaneName } from './hello.ts'

/** A join request with 32 addresses of 512 characters, and no tensors. */
export const strangerLimits: FrameLimits = { headerBytes: 32 * kibibyte, bodyBytes: 0 }

const asStranger: ReadonlySet<WireType> = new Set(['join-request', 'job-summary-request'])

/**
 * Check a header before memory is taken for its tensors.
 *
 * @throws RefusedError for what only members may send; BadMessageError for what no honest peer sends
 */
export function checkHeader(
  header: WireHeader,
  expected: { readonly job: JobId; readonly lane: LaneName; readonly standing: Sender['standing'] },
): void {
  if (header.job !== expected.job) throw new BadMessageError(`a '${header.type}' for another job`)
  if (laneOf(trafficOf(header.type)) !== expected.lane)
    throw new BadMessageError(`a '${header.type}' in the ${expected.lane} lane`)
  if (expected.standing === 'stranger' && !asStranger.has(header.type))
    throw new RefusedError('not-a-member', `a stranger sent '${header.type}'`)
}
