/** One job at a time: who stands at the door, and how a job begins and gives everything back. */
import { InvalidInputError } from '../../shared/errors.ts'
import type { AgentParts, CurrentJob } from './agent-parts.ts'

/** A job that has not ended yet. */
export const isUnderWay = ({ current }: AgentParts): boolean =>
  current !== undefined && current.participation.view().phase !== 'ended'

/** Alone at the door of a job: to take part, or only to look in. */
export async function atTheDoor<T>(parts: AgentParts, deed: () => Promise<T>): Promise<T> {
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

/** Take up a job. @throws InvalidInputError while there is one; whatever `open` throws */
export function takeUp<T extends CurrentJob>(parts: AgentParts, open: () => Promise<T>): Promise<T> {
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
