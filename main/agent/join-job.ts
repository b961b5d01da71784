/** Join a job by its invite: find the host, be admitted, take part. */
import { InvalidInviteError, PeerLostError } from '../../shared/errors.ts'
import { parseInvite } from '../../shared/invite.ts'
import { minute, type Millis } from '../../shared/units.ts'
import { requestAdmission } from '../core/job/admission.ts'
import { joinJob } from '../core/job/participant.ts'
import { createMembership } from '../edge/identity/certificate.ts'
import { jobIdOf } from '../edge/identity/job-key.ts'
import type { AgentParts, CurrentJob } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { processorMs } from './processor.ts'
import { toldOfClone } from './cloned-identity.ts'
import { lendEngine } from './job-engine.ts'

type Found = ReturnType<typeof parseInvite>

/** Read an invite of another PC’s job. @throws InvalidInviteError, also for one that had expired at `nowMs` */
export function readInvite({ swarm }: AgentParts, link: string, nowMs: Millis): Found {
  const invite = parseInvite(link, nowMs)
  if (invite.host === swarm.self) throw new InvalidInviteError('this is your own invite; give it to a friend')
  return invite
}

/** Where the host is now: as the invite says, or else as the swarm's directory does. @throws PeerLostError */
export async function reachHost({ swarm, log }: AgentParts, invite: Found): Promise<void> {
  try {
    await swarm.connect(invite.addresses)
  } catch (error) {
    const record = await swarm.findJob(jobIdOf(invite.publicKey))
    if (record?.host !== invite.host) {
      log('warn', 'the host could not be reached', { error: String(error) })
      throw new PeerLostError('the host cannot be reached; is its PC on, and are you both online?')
    }
    await swarm.connect(record.addresses)
  }
}

/**
 * @param nowMs - 0 for a member that comes back, whom the host knows: its invite may have expired since
 * @throws InvalidInviteError, PeerLostError, RefusedError; DeviceMemoryError
 */
export async function joinJobOf(parts: AgentParts, link: string, nowMs: Millis): Promise<CurrentJob> {
  const { swarm, log, store, vault } = parts
  const invite = readInvite(parts, link, nowMs)
  const thread = await parts.startEngine()
  const membership = createMembership(invite.publicKey, Date.now)
  const links = swarm.openLinks({ ...membership, certificate: null, hosting: false })
  const giveBack = async () => {
    links.close()
    await thread.stop()
  }
  try {
    await reachHost(parts, invite)
    await links.learnAddresses(invite.host, invite.addresses)
    const { engine, device, restedMs, wake } = await lendEngine(parts, thread)
    const { job } = membership
    const request = { job, secret: invite.secret, device, addresses: [...swarm.addresses()].slice(0, 32) }
    const ports = { links, clock: realClock, log, engine, restedMs, processorMs, store, vault }
    const participation = await requestAdmission(ports, {
      host: invite.host,
      request,
      signal: AbortSignal.timeout(minute),
      onAdmitted({ certificate, name }) {
        links.useCertificate(certificate)
        const { displayName, memoryBytes } = device
        return joinJob(ports, { job, name, host: invite.host, displayName, memoryBytes }, parts.changes.ring)
      },
    })
    const leave = () => {
      wake()
      participation.leave()
    }
    return {
      participation: { ...participation, leave },
      async release() {
        wake()
        await participation.suspend()
        await giveBack()
      },
    }
  } catch (error) {
    await giveBack()
    throw await toldOfClone(parts, error)
  }
}
