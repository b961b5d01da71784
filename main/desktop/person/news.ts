/** What is worth a notification: a job that ended, an agent in trouble. Each is told once. */
import type { Snapshot } from '../../../shared/messages/control.ts'
import type { AgentLink } from '../agent/agent-link.ts'
import type { AgentStatus } from '../agent/supervisor.ts'

export interface News {
  readonly title: string
  readonly body: string
}

export function followNews(link: Pick<AgentLink, 'status' | 'snapshot'>, tell: (news: News) => void): void {
  let running: string | undefined
  let inTrouble = false
  link.snapshot.subscribe((snapshot) => {
    const job = snapshot?.job
    if (snapshot === undefined || job === null || job === undefined) return
    if (job.phase !== 'ended') running = job.job
    else if (running === job.job) {
      running = undefined
      tell(jobNews(snapshot, job.name))
    }
  })
  link.status.subscribe((status) => {
    const news = agentNews(status)
    if (news !== undefined && !inTrouble) tell(news)
    inTrouble = news !== undefined || (inTrouble && status.name !== 'running')
  })
}

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
