/** What an invite leads to, asked of its host; nothing is joined. */
import type { JoinCard, Outlook } from '../../shared/messages/cards.ts'
import { hour, minute, second } from '../../shared/units.ts'
import { RefusedError } from '../../shared/errors.ts'
import { requestSummary } from '../core/job/admission.ts'
import { gainInWords } from '../core/job/gain-in-words.ts'
import { estimateJoin } from '../core/job/join-estimate.ts'
import { createMembership } from '../edge/identity/certificate.ts'
import type { AgentParts } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { lentPc } from './device.ts'
import { reachHost, readInvite } from './join-job.ts'

const secondsAnHour = hour / second

/** @throws InvalidInviteError, PeerLostError; RefusedError for a job that takes nobody more; DeviceMemoryError */
export async function previewOf(parts: AgentParts, link: string): Promise<JoinCard> {
  const invite = readInvite(parts, link, Date.now())
  const membership = createMembership(invite.publicKey, Date.now)
  const links = parts.swarm.openLinks({ ...membership, certificate: null, hosting: false })
  try {
    await reachHost(parts, invite)
    await links.learnAddresses(invite.host, invite.addresses)
    const { host, secret, expiresAt } = invite
    const lends = await lentPc(parts)
    const summary = await requestSummary(
      { links, clock: realClock },
      { host, job: membership.job, secret, lends, signal: AbortSignal.timeout(minute) },
    )
    if (!summary.open)
      throw new RefusedError(
        'too-late',
        'the training is about to end; ask the host to invite you to the next run',
      )
    const { name, hostName, model, parameters, members, outlook } = summary
    return {
      ...{ job: membership.job, name, host, hostName, model, parameters, members },
      inviteExpiresAt: expiresAt,
      ...estimateJoin(summary, lends),
      outlook,
      ...(outlook === null ? { gain: '' } : foreseen(outlook)),
    }
  } finally {
    links.close()
  }
}

/** As the host's plan has it, where that is known: better than what any plan at all could ask of this PC. */
function foreseen(outlook: Outlook): Pick<JoinCard, 'gain'> & Partial<JoinCard> {
  const gain = gainInWords(outlook)
  if (outlook.withYou === null) return { gain }
  const [least, most] = outlook.uploadBytesPerSecond
  const perHour: [number, number] = [least * secondsAnHour, most * secondsAnHour]
  return { gain, uploadBytesPerHour: perHour, downloadBytesPerHour: perHour }
}
