/** What each command of a face does. */
import { InvalidInputError } from '../../shared/errors.ts'
import type { CommandInput, CommandName, CommandOutput } from '../../shared/messages/control.ts'
import type { Participation } from '../core/job/participant.ts'
import { currentOf, snapshotOf, type AgentParts, type CurrentJob } from './agent-parts.ts'
import { hostJobOf } from './host-job.ts'
import { joinJobOf } from './join-job.ts'

type Handlers = { readonly [N in CommandName]: (input: CommandInput<N>) => Promise<CommandOutput<N>> }

/** Take up a job: one at a time. */
async function begin<T extends CurrentJob>(parts: AgentParts, open: () => Promise<T>): Promise<T> {
  const phase = parts.current?.participation.view().phase
  if (parts.busy || (phase !== undefined && phase !== 'ended'))
    throw new InvalidInputError('this agent takes part in a job already; leave it first')
  parts.busy = true
  try {
    await parts.current?.release()
    const job = await open()
    parts.current = job
    parts.changes.ring()
    releaseAtTheEnd(parts, job)
    return job
  } finally {
    parts.busy = false
  }
}

function releaseAtTheEnd({ log }: AgentParts, job: CurrentJob): void {
  job.participation.ended
    .then(() => job.release())
    .catch((error: unknown) => {
      log('error', 'could not give a job’s resources back', { error: String(error) })
    })
}

export function handleCommands(parts: AgentParts): Handlers {
  /** A command that only tells the job something. */
  const tell = (deed: (participation: Participation) => void) => () => {
    deed(currentOf(parts).participation)
    parts.changes.ring()
    return Promise.resolve(null)
  }
  const refuse = () => Promise.reject(new InvalidInputError('this agent cannot do that yet'))
  return {
    preview: refuse,
    limits: () => Promise.resolve(parts.settings.limits),
    setLimits: refuse,
    power: () => Promise.resolve(null),
    models: refuse,
    inspectData: refuse,
    forecastHost: refuse,
    invite: refuse,
    removeMember: refuse,
    evaluate: refuse,
    predict: refuse,
    exportModel: refuse,
    diagnostics: refuse,
    backupIdentity: refuse,
    restoreIdentity: refuse,
    reset: refuse,
    status: () => Promise.resolve(snapshotOf(parts)),
    host: async ({ job }) => {
      const { participation, invite } = await begin(parts, () => hostJobOf(parts, job))
      return { job: participation.view().job, invite }
    },
    join: async ({ invite }) => {
      const { participation } = await begin(parts, () => joinJobOf(parts, invite))
      const { job, name } = participation.view()
      return { job, name }
    },
    pause: () => {
      const { participation } = currentOf(parts)
      participation.pause()
      parts.changes.ring()
      return Promise.resolve({ phase: participation.view().phase })
    },
    resume: tell((participation) => {
      participation.resume()
    }),
    start: tell((participation) => {
      participation.startNow()
    }),
    finish: tell((participation) => {
      participation.finish()
    }),
    leave: async () => {
      const { participation } = currentOf(parts)
      participation.leave()
      await participation.ended
      return null
    },
    shutdown: () => {
      parts.shutdown()
      return Promise.resolve(null)
    },
  }
}
