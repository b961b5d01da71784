/** Launch a job: read the model and the data, make the job's key, open the door. */
import { resolve } from 'node:path'
import type { JobFile, JobSpec } from '../../shared/job/spec.ts'
import { formatInvite } from '../../shared/invite.ts'
import type { Certificate } from '../../shared/messages/wire.ts'
import { hour } from '../../shared/units.ts'
import { hostJob } from '../core/job/participant.ts'
import { prepareData } from '../edge/data/prepare.ts'
import { issueCertificate } from '../edge/identity/certificate.ts'
import { createMembership } from '../edge/identity/certificate.ts'
import { createInviteSecret, createJobKey, type JobKey } from '../edge/identity/job-key.ts'
import { signJobRecord } from '../edge/identity/job-record.ts'
import { loadModel } from '../edge/store/trained-models.ts'
import type { AgentParts, HostedHere } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { reportDevice } from './device.ts'
import { resolveModel } from './models.ts'

/** Longer than any run of today; a member's certificate does not outlive it. */
const certificateLifeMs = 90 * 24 * hour

async function specOf(parts: AgentParts, file: JobFile): Promise<JobSpec> {
  const graph = await resolveModel(file.model)
  const { validation, seed, recipe, target, name } = file
  const data = await prepareData({
    source: file.data,
    graph,
    validationShare: validation.share,
    seed,
    store: parts.store,
    onProgress: ({ phase, samples }) => {
      parts.log('info', `data: ${phase}, ${samples} samples`)
    },
  })
  return { name, graph, data, recipe, target, validation, seed }
}

/** Who may come in, and the proof of it. */
function door(key: JobKey, inviteHours: number) {
  const secret = createInviteSecret()
  // Whole milliseconds, as an invite writes them.
  const openUntil = Date.now() + Math.round(inviteHours * hour)
  const issue = (peer: string, role: Certificate['role']) =>
    issueCertificate(key, { peer, role, expiresAt: Date.now() + certificateLifeMs })
  return {
    ...{ secret, openUntil, issue },
    checkSecret: (shown: string) => {
      if (shown !== secret) return 'wrong-secret'
      return Date.now() > openUntil ? 'invite-expired' : undefined
    },
  }
}

/** @throws InvalidInputError for a model or data that cannot be used; DiskFullError; DeviceMemoryError */
export async function hostJobOf(parts: AgentParts, file: JobFile): Promise<HostedHere> {
  const { swarm, settings, home, log, store, vault } = parts
  const spec = await specOf(parts, file)
  const continueFrom =
    file.continueFrom === undefined ? undefined : await loadModel(resolve(file.continueFrom))
  const key = createJobKey()
  const { secret, openUntil, issue, checkSecret } = door(key, file.gathering.inviteHours)
  const addresses = swarm.addresses()
  const invite = formatInvite({
    name: file.name,
    publicKey: key.publicKey,
    secret,
    expiresAt: openUntil,
    addresses,
  })
  const engine = await parts.startEngine()
  const membership = createMembership(key.publicKey, Date.now)
  const links = swarm.openLinks({ ...membership, certificate: issue(swarm.self, 'host'), hosting: true })
  const device = await reportDevice(home, settings, engine)
  const participation = hostJob(
    { links, clock: realClock, log, engine, store, vault },
    {
      job: key.jobId,
      spec,
      gathering: {
        peers: file.gathering.peers,
        deadlineSeconds: file.gathering.deadlineSeconds,
        clusters: file.gathering.clusters,
      },
      device,
      continueFrom,
      issueCertificate: (peer) => Promise.resolve(issue(peer, 'member')),
      checkSecret,
    },
    parts.changes.ring,
  )
  const record = signJobRecord(key, {
    name: file.name,
    host: swarm.self,
    addresses: [...addresses],
    sequence: Date.now(),
  })
  swarm.announceJob(record).catch((error: unknown) => {
    log('debug', 'the directory took no record yet', { error: String(error) })
  })
  return {
    participation,
    invite,
    async release() {
      participation.leave()
      await participation.ended
      links.close()
      await engine.stop()
    },
  }
}
