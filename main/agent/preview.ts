/** What an invite leads to, asked of its host; nothing is joined. */
import type { JoinCard } from '../../shared/messages/cards.ts'
import { minute } from '../../shared/units.ts'
import { RefusedError } from '../../shared/errors.ts'
import { requestSummary } from '../core/job/admission.ts'
import { estimateJoin } from '../core/job/join-estimate.ts'
import { createMembership } from '../edge/identity/certificate.ts'
import type { AgentParts } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { lentPc } from './device.ts'
import { reachHost, readInvite } from './join-job.ts'

/** @throws InvalidInviteError, PeerLostError; RefusedError for a job that takes nobody more; DeviceMemoryError */
export async function previewOf(parts: AgentParts, link: string): Promise<JoinCard> {
  const invite = readInvite(parts, link, Date.now())
  const membership = createMembership(invite.publicKey, Date.now)
  const links = parts.swarm.openLinks({ ...membership, certificate: null, hosting: false })
  try {
    await reachHost(parts, invite)
    await links.learnAddresses(invite.host, invite.addresses)
    const { host, secret, expiresAt } = invite
    const summary = await requestSummary(
      { links, clock: realClock },
      { host, job: membership.job, secret, signal: AbortSignal.timeout(minute) },
    )
    if (!summary.open)
      throw new RefusedError(
        'too-late',
        'the training is about to end; ask the host to invite you to the next run',
      )
    const { name, hostName, model, parameters, members } = summary
    return {
      ...{ job: membership.job, name, host, hostName, model, parameters, members },
      inviteExpiresAt: expiresAt,
      ...estimateJoin(summary, await lentPc(parts)),
    }
  } finally {
    links.close()
  }
}
