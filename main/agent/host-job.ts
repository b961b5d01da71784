/** Launch a job: read the model and the data, make the job's key, open the door. */
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { JobFile, JobSpec } from '../../shared/job/spec.ts'
import type { JobId } from '../../shared/ids.ts'
import type { DeviceReport } from '../../shared/messages/wire.ts'
import { formatInvite } from '../../shared/invite.ts'
import type { HostedJob, HostPorts } from '../core/job/host/host-state.ts'
import { measureLayers } from '../core/job/layer-speed.ts'
import { hostJob, type Participation } from '../core/job/participant.ts'
import type { SavedRun } from '../core/ports.ts'
import { prepareData } from '../edge/data/prepare.ts'
import { createMembership } from '../edge/identity/certificate.ts'
import { createJobKey, type JobKey } from '../edge/identity/job-key.ts'
import { signJobRecord } from '../edge/identity/job-record.ts'
import type { FoundRun, HostedJobFile } from '../edge/store/hosted-runs.ts'
import { loadModel } from '../edge/store/trained-models.ts'
import type { AgentParts, EngineThread, HostedHere } from './agent-parts.ts'
import { realClock } from './clock.ts'
import { processorMs } from './processor.ts'
import { computingThreads } from './computing-threads.ts'
import { createDoor } from './job-door.ts'
import { lendEngine } from './job-engine.ts'
import { learningOf } from './learned-file.ts'
import { resolveModel } from './models.ts'
import { inPlanningThread } from './planning/thread.ts'

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

const plan: HostPorts['plan'] = (request, signal) => inPlanningThread('plan', request, signal)

/** Launch a job. @throws InvalidInputError for a model or data that cannot be used; DiskFullError; DeviceMemoryError */
export async function hostJobOf(parts: AgentParts, file: JobFile): Promise<HostedHere> {
  const spec = await specOf(parts, file)
  const { gathering, continueFrom } = file
  const from = continueFrom === undefined ? {} : { continueFrom: resolve(continueFrom) }
  const { privateKey, jobId } = createJobKey()
  const hosted = { format: 'rookery-hosted/1', spec, gathering, privateKey, ...from } as const
  try {
    return await openHosted(parts, { ...hosted, secrets: [] })
  } catch (error) {
    // The next agent on this home must not go on with a job that never began.
    await parts.vault.forgetHostedRun(jobId)
    throw error
  }
}

/** Go on with a job that this agent hosted when it ended. @throws as `hostJobOf` */
export function resumeHosted(parts: AgentParts, { file, run }: FoundRun): Promise<HostedHere> {
  return openHosted(parts, file, run)
}

async function openHosted(parts: AgentParts, file: HostedJobFile, run?: SavedRun): Promise<HostedHere> {
  const { swarm, log, store, vault } = parts
  const { spec, gathering } = file
  const { name } = spec
  const continueFrom = file.continueFrom === undefined ? undefined : await loadModel(file.continueFrom)
  const key = createJobKey(file.privateKey)
  const door = createDoor(key, file, (secrets) => {
    keepDoor(parts, key.jobId, { ...file, secrets })
  })
  const newInvite = () =>
    formatInvite({ name, publicKey: key.publicKey, ...door.open(), addresses: swarm.addresses() })
  const invite = newInvite()
  const thread = await parts.startEngine()
  const membership = createMembership(key.publicKey, Date.now)
  const links = swarm.openLinks({ ...membership, certificate: door.issue(swarm.self, 'host'), hosting: true })
  const giveBack = async () => {
    links.close()
    await thread.stop()
  }
  const lent = await lendEngine(parts, thread).catch(async (error: unknown) => {
    await giveBack()
    throw error
  })
  const { engine, device, restedMs, wake } = lent
  const measured = await measuredHere(parts, spec, { thread, device })
  const { peers, deadlineSeconds, clusters } = gathering
  const learning = await learningOf(parts)
  const participation = hostJob(
    { links, clock: realClock, log, engine, restedMs, processorMs, store, vault, plan },
    {
      ...{ job: key.jobId, spec, device, continueFrom, checkSecret: door.checkSecret, ...measured },
      ...(run === undefined ? {} : { resume: run }),
      gathering: { peers, deadlineSeconds, clusters },
      ...learning,
      issueCertificate: (peer) => Promise.resolve(door.issue(peer, 'member')),
    },
    parts.changes.ring,
  )
  announce(parts, key, name)
  forgetAtTheEnd(parts, participation, key.jobId)
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

/** What this PC's processors take: the model's layers, where they can be measured, and how many engines at once. */
async function measuredHere(
  { settings, log }: AgentParts,
  { graph, recipe }: JobSpec,
  { thread, device }: { thread: EngineThread; device: DeviceReport },
): Promise<Pick<HostedJob, 'layerFlops' | 'processors'>> {
  const { memoryBytes, callSeconds = 0 } = device
  const { computeShare } = settings.limits
  const request = {
    ...{ engine: thread, clock: realClock, graph, recipe, memoryBytes },
    // As measured, without rests.
    callSeconds: callSeconds * computeShare,
  }
  // Each engine of them takes as many threads as ours.
  const processors = availableParallelism() / (await computingThreads(settings.engine.threads))
  try {
    return { processors, layerFlops: await measureLayers(request) }
  } catch (error) {
    log('warn', 'the model’s layers could not be measured', { error: String(error) })
    return { processors }
  }
}

/** A run that only this program leaves is kept for the next one. */
function forgetAtTheEnd({ vault, log }: AgentParts, { ended }: Participation, job: JobId): void {
  ended
    .then(({ code }) => (code === 'suspended' ? undefined : vault.forgetHostedRun(job)))
    .catch((error: unknown) => {
      log('warn', 'what was kept of a job that is over could not be deleted', { error: String(error) })
    })
}

function keepDoor({ vault, log }: AgentParts, job: JobId, file: HostedJobFile): void {
  vault.saveHostedJob(job, file).catch((error: unknown) => {
    log('warn', 'after a restart this agent will not know the job it hosts', { error: String(error) })
  })
}

/** Tell the swarm where the job's host is. */
function announce({ swarm, log }: AgentParts, key: JobKey, name: string): void {
  const claim = { name, host: swarm.self, addresses: [...swarm.addresses()], sequence: Date.now() }
  swarm.announceJob(signJobRecord(key, claim)).catch((error: unknown) => {
    log('debug', 'the directory took no record yet', { error: String(error) })
  })
}
