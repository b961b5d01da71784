/** Launch a job: read the model and the data, make the job's key, open the door. */
import { resolve } from 'node:path'
import type { JobFile, JobSpec } from '../../shared/job/spec.ts'
import { formatInvite } from '../../shared/invite.ts'
import type { Certificate, Refusal } from '../../shared/messages/wire.ts'
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
import { lendEngine } from './job-engine.ts'
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
  /** Each invite's secret, and until when it opens the job. */
  const secrets = new Map<string, number>()
  const issue = (peer: string, role: Certificate['role']) =>
    issueCertificate(key, { peer, role, expiresAt: Date.now() + certificateLifeMs })
  return {
    issue,
    open: () => {
      const secret = createInviteSecret()
      // Whole milliseconds, as an invite writes them.
      const expiresAt = Date.now() + Math.round(inviteHours * hour)
      secrets.set(secret, expiresAt)
      return { secret, expiresAt }
    },
    checkSecret: (shown: string): Refusal | undefined => {
      const openUntil = secrets.get(shown)
      if (openUntil === undefined) return 'wrong-secret'
      return Date.now() > openUntil ? 'invite-expired' : undefined
    },
  }
}

/** @throws InvalidInputError for a model or data that cannot be used; DiskFullError; DeviceMemoryError */
export async function hostJobOf(parts: AgentParts, file: JobFile): Promise<HostedHere> {
  const { swarm, log, store, vault } = parts
  const spec = await specOf(parts, file)
  const continueFrom =
    file.continueFrom === undefined ? undefined : await loadModel(resolve(file.continueFrom))
  const key = createJobKey()
  const { open, issue, checkSecret } = door(key, file.gathering.inviteHours)
  const newInvite = () => {
    const { name } = file
    return formatInvite({ name, publicKey: key.publicKey, ...open(), addresses: swarm.addresses() })
  }
  const invite = newInvite()
  const thread = await parts.startEngine()
  const membership = createMembership(key.publicKey, Date.now)
  const links = swarm.openLinks({ ...membership, certificate: issue(swarm.self, 'host'), hosting: true })
  const giveBack = async () => {
    links.close()
    await thread.stop()
  }
  const lent = await lendEngine(parts, thread).catch(async (error: unknown) => {
    await giveBack()
    throw error
  })
  const { engine, device, restedMs, wake } = lent
  const { peers, deadlineSeconds, clusters } = file.gathering
  const participation = hostJob(
    { links, clock: realClock, log, engine, restedMs, store, vault },
    {
      ...{ job: key.jobId, spec, device, continueFrom, checkSecret },
      gathering: { peers, deadlineSeconds, clusters },
      issueCertificate: (peer) => Promise.resolve(issue(peer, 'member')),
    },
    parts.changes.ring,
  )
  announce(parts, key, file.name)
  const leave = () => {
    wake()
    participation.leave()
  }
  const hosted: HostedHere = {
    participation: { ...participation, leave },
    invite,
    newInvite() {
      hosted.invite = newInvite()
      parts.changes.ring()
      return hosted.invite
    },
    async release() {
      leave()
      await participation.ended
      await giveBack()
    },
  }
  return hosted
}

/** Tell the swarm where the job's host is. */
function announce({ swarm, log }: AgentParts, key: JobKey, name: string): void {
  const claim = { name, host: swarm.self, addresses: [...swarm.addresses()], sequence: Date.now() }
  swarm.announceJob(signJobRecord(key, claim)).catch((error: unknown) => {
    log('debug', 'the directory took no record yet', { error: String(error) })
  })
}
