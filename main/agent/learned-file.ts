/** What this agent learned from jobs that it hosted, in its home folder. */
import { join } from 'node:path'
import { type Learned, learned, nothingLearned } from '../../shared/job/learned.ts'
import type { HostedJob } from '../core/job/host/host-state.ts'
import type { AgentParts } from './agent-parts.ts'
import { createKeptFile } from './kept-file.ts'

const fileOf = (home: string) => createKeptFile(join(home, 'learned.json'), learned)

export async function readLearned(home: string): Promise<Learned> {
  return (await fileOf(home).read()) ?? nothingLearned
}

/** What a job that is hosted here knows at its start, and where it tells at its end. */
export async function learningOf({
  home,
  log,
}: AgentParts): Promise<Pick<HostedJob, 'learned' | 'onLearned'>> {
  return {
    learned: await readLearned(home),
    onLearned: (news) => {
      fileOf(home)
        .write(news)
        .catch((error: unknown) => {
          log('warn', 'what this job taught could not be kept', { error: String(error) })
        })
    },
  }
}
