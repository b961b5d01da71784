/** Join a job by its invite: find the host, be admitted, take part. */
import { InvalidInviteError, PeerLostError } from '../../shared/errors.ts'
import { parseInvite } from '../../shared/invite.ts'
import { minute } from '../../shared/units.ts'
import { requestAdmission } from '../core/job/admission.ts'
import { joinJob } from '../core/job/participant.ts'
import { createMembership } from '../edge/identity/certificate.ts'
import { jobIdOf } from '../edge/identity/job-key.ts'
import type { AgentParts, CurrentJob } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { reportDevice } from './device.ts'

type Found = ReturnType<typeof parseInvite>

/** Where the host is now: as the invite says, or else as the swarm's directory does. @throws PeerLostError */
async function reachHost({ swarm, log }: AgentParts, invite: Found): Promise<void> {
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

/** @throws InvalidInviteError, PeerLostError, RefusedError; DeviceMemoryError */
export async function joinJobOf(parts: AgentParts, link: string): Promise<CurrentJob> {
  const { swarm, settings, home, log, store, vault } = parts
  const invite = parseInvite(link, Date.now())
  if (invite.host === swarm.self) throw new InvalidInviteError('this is your own invite; give it to a friend')
  const engine = await parts.startEngine()
  const membership = createMembership(invite.publicKey, Date.now)
  const links = swarm.openLinks({ ...membership, certificate: null, hosting: false })
  const giveBack = async () => {
    links.close()
    await engine.stop()
  }
  try {
    await reachHost(parts, invite)
    await links.learnAddresses(invite.host, invite.addresses)
    const device = await reportDevice(home, settings, engine)
    const { job } = membership
    const request = { job, secret: invite.secret, device, addresses: [...swarm.addresses()].slice(0, 32) }
    const ports = { links, clock: realClock, log, engine, store, vault }
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
    return {
      participation,
      async release() {
        participation.leave()
        await participation.ended
        await giveBack()
      },
    }
  } catch (error) {
    await giveBack()
    throw error
  }
}
