/** What is worth a notification: a job that ended, one without a way back, an agent in trouble. Each is told once. */
import type { Snapshot } from '../../../shared/messages/control.ts'
import type { AgentLink } from '../agent/agent-link.ts'
import type { AgentStatus } from '../agent/supervisor.ts'

export interface News {
  readonly title: string
  readonly body: string
}

type Followed = Pick<AgentLink, 'status' | 'snapshot' | 'isChoosing'>

export function followNews(link: Followed, tell: (news: News) => void): void {
  let inTrouble = false
  link.snapshot.subscribe(jobEnds(tell))
  link.snapshot.subscribe(waysBack(() => !link.isChoosing(), tell))
  link.status.subscribe((status) => {
    const news = agentNews(status)
    if (news !== undefined && !inTrouble) tell(news)
    inTrouble = news !== undefined || (inTrouble && status.name !== 'running')
  })
}

function jobEnds(tell: (news: News) => void): (snapshot: Snapshot | undefined) => void {
  let running: string | undefined
  return (snapshot) => {
    const job = snapshot?.job
    if (snapshot === undefined || job === null || job === undefined) return
    if (job.phase !== 'ended') running = job.job
    else if (running === job.job) {
      running = undefined
      tell(jobNews(snapshot, job.name))
    }
  }
}

/** Told where a way back ended without its job, and the person did not end it by another wish. */
function waysBack(
  isUnasked: () => boolean,
  tell: (news: News) => void,
): (snapshot: Snapshot | undefined) => void {
  let awaited: string | null = null
  return (snapshot) => {
    const now = snapshot?.comesBackTo ?? null
    // A new agent reads first what it comes back to: without one there is nothing to tell.
    const gaveUp = now === null && snapshot !== undefined && isFree(snapshot)
    if (awaited !== null && gaveUp && isUnasked()) tell(notBackNews(awaited))
    awaited = now
  }
}

const isFree = ({ job }: Snapshot): boolean => job === null || job.phase === 'ended'

/** The agent gave up; whether its host is gone or said no is in the log. */
const notBackNews = (name: string): News => ({
  title: `This PC did not come back to ${name}`,
  body: 'The job is over, its host cannot be reached, or it goes on without this PC.',
})

function jobNews({ job }: Snapshot, name: string): News {
  const result = job?.result
  if (result?.outcome !== 'finished') return { title: `${name} has ended`, body: result?.reason ?? '' }
  const where = result.model === null ? 'The model is with the host.' : `The model is in ${result.model}.`
  return { title: `${name} is finished`, body: where }
}

/** Only when it gave up: a restart that helps is nobody's business. */
function agentNews(status: AgentStatus): News | undefined {
  if (status.name !== 'stopped' || status.nextTryAtMs !== null || status.cause === '') return undefined
  return { title: 'Rookery is not running', body: `Its agent does not start: ${status.cause}` }
}
