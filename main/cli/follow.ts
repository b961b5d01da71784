/** Show a job while it runs, until it has ended. */
import type { AgentClient } from '../edge/control/client.ts'
import { AgentNotRunningError } from '../../shared/errors.ts'
import type { JobId } from '../../shared/ids.ts'
import type { JobResult, JobView } from '../../shared/messages/control.ts'
import { createChanges } from './changes.ts'
import { AgentEndedError, JobFailedError } from './errors.ts'
import type { Terminal } from './terminal.ts'
import { jobScreen } from './view/job-screen.ts'

export interface EndedJob extends JobView {
  readonly result: JobResult
}

export interface Following {
  readonly job: JobId
  readonly terminal: Terminal
  /** The last line of the picture, for example how to stop. */
  hint(job: JobView): string
  /** Beside every event of `--json`, for example which of several jobs it is. */
  readonly tag?: Readonly<Record<string, unknown>>
}

/**
 * @returns the job as it ended, or undefined when the client was closed by this process
 * @throws AgentEndedError when the agent goes first; JobFailedError when the job is gone without a result
 */
export async function followJob(client: AgentClient, following: Following): Promise<EndedJob | undefined> {
  const show = createShow(following)
  try {
    let seen = false
    for await (const { job } of client.watch()) {
      if (job?.job !== following.job) {
        if (seen) throw new JobFailedError('the agent has left the job')
        continue
      }
      seen = true
      show(job)
      if (job.result !== null) return { ...job, result: job.result }
    }
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof AgentNotRunningError)) throw thrown
    throw new AgentEndedError('the agent ended before the job did')
  } finally {
    following.terminal.endPicture()
  }
}

function createShow(following: Following): (job: JobView) => void {
  const { terminal, tag } = following
  const changes = createChanges()
  return (job) => {
    for (const { event, text } of changes(job)) {
      terminal.event({ ...event, ...tag })
      // The picture shows all but what happened.
      if (text !== undefined && (!terminal.live || event.event === 'log')) terminal.say(text)
    }
    if (terminal.live) {
      const hint = job.result === null ? following.hint(job) : ''
      terminal.picture(jobScreen(job, { ...terminal.size(), paint: terminal.paint, hint }))
    }
  }
}
