/** Commands that begin, pause and end a job. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { currentOf, snapshotOf, type AgentParts, type CurrentJob } from '../agent-parts.ts'
import { hostJobOf } from '../host-job.ts'
import { joinJobOf } from '../join-job.ts'
import { previewOf } from '../preview.ts'
import type { HandlersOf } from './handlers.ts'

/** A job that has not ended yet. */
export const isUnderWay = ({ current }: AgentParts): boolean =>
  current !== undefined && current.participation.view().phase !== 'ended'

/** Alone at the door of a job: to take part, or only to look in. */
async function atTheDoor<T>(parts: AgentParts, deed: () => Promise<T>): Promise<T> {
  if (parts.busy || isUnderWay(parts))
    throw new InvalidInputError('this agent takes part in a job already; leave it first')
  parts.busy = true
  try {
    await parts.current?.release()
    return await deed()
  } finally {
    parts.busy = false
  }
}

/** Take up a job: one at a time. */
function begin<T extends CurrentJob>(parts: AgentParts, open: () => Promise<T>): Promise<T> {
  return atTheDoor(parts, async () => {
    const job = await open()
    parts.current = job
    parts.lending.serve(job.participation, (listener) => parts.changes.subscribe(listener))
    parts.changes.ring()
    releaseAtTheEnd(parts, job)
    return job
  })
}

function releaseAtTheEnd({ log }: AgentParts, job: CurrentJob): void {
  job.participation.ended
    .then(() => job.release())
    .catch((error: unknown) => {
      log('error', 'could not give a job’s resources back', { error: String(error) })
    })
}

export function jobCommands(
  parts: AgentParts,
): HandlersOf<'status' | 'host' | 'join' | 'preview' | 'pause' | 'resume' | 'leave'> {
  const { keeper } = parts.lending
  return {
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
    preview: ({ invite }) => atTheDoor(parts, () => previewOf(parts, invite)),
    pause: ({ forMs, after }) => {
      // With or without a job: a pause also keeps the next one from training.
      if (after === 'round') keeper.pauseWhenRoundEnds(forMs)
      else keeper.pause(forMs)
      parts.changes.ring()
      const phase = parts.current?.participation.view().phase ?? 'paused'
      return Promise.resolve({ phase, waits: keeper.pauseAfterRound !== null })
    },
    resume: () => {
      keeper.resume()
      parts.changes.ring()
      return Promise.resolve(null)
    },
    leave: async () => {
      const { participation } = currentOf(parts)
      participation.leave()
      await participation.ended
      return null
    },
  }
}
