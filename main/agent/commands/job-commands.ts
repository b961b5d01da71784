/** Commands that begin, pause and end a job. */
import { currentOf, snapshotOf, type AgentParts } from '../agent-parts.ts'
import { hostJobOf } from '../host-job.ts'
import { joinJobOf } from '../join-job.ts'
import { previewOf } from '../preview.ts'
import { atTheDoor, takeUp } from '../take-up.ts'
import type { HandlersOf } from './handlers.ts'

export function jobCommands(
  parts: AgentParts,
): HandlersOf<'status' | 'host' | 'join' | 'preview' | 'pause' | 'resume' | 'leave'> {
  const { keeper } = parts.lending
  return {
    status: () => Promise.resolve(snapshotOf(parts)),
    host: async ({ job }) => {
      await parts.comeback?.forget()
      const { participation, invite } = await takeUp(parts, () => hostJobOf(parts, job))
      return { job: participation.view().job, invite }
    },
    join: async ({ invite }) => {
      await parts.comeback?.forget()
      const joined = await takeUp(parts, () => joinJobOf(parts, invite, Date.now()))
      await parts.comeback?.remember(invite, joined.participation.ended)
      const { job, name } = joined.participation.view()
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
      if (parts.comeback?.to != null) {
        await parts.comeback.forget()
        return null
      }
      const { participation } = currentOf(parts)
      participation.leave()
      await participation.ended
      return null
    },
  }
}
