/** A job's progress: finished updates only, and the time left as a range. */
import type { JSX } from 'preact'
import type { JobView } from '../../../shared/messages/control.ts'
import { count, percent, timeRange } from '../words/numbers.ts'
import { asTitle } from '../words/sentence.ts'
import { Card, Progress } from './blocks.tsx'

function doneWords({ updates, targetUpdates }: JobView): string {
  if (targetUpdates === 0) return 'No update yet: training has not started'
  return `${percent(updates / targetUpdates)} done: ${count(updates)} of ${count(targetUpdates)} updates`
}

function leftWords({ result, phase, text, secondsLeft, stalledForSeconds }: JobView): string {
  if (result !== null) return asTitle(result.reason)
  if (phase !== 'training' || stalledForSeconds !== undefined) return asTitle(text)
  return secondsLeft === null ? 'time left: not known yet' : `${timeRange(secondsLeft)} left`
}

export function JobProgress({ job, note }: { readonly job: JobView; readonly note?: string }): JSX.Element {
  const share = job.targetUpdates === 0 ? 0 : job.updates / job.targetUpdates
  return (
    <Card
      title={job.name}
      side={
        <a class="small" href="#job">
          Open job
        </a>
      }
    >
      <div class="stack-2">
        <Progress share={share} label={`${percent(share)} of the updates are done`} />
        <div class="row wrap">
          <span class="grow">{doneWords(job)}</span>
          <span class="soft">{note ?? leftWords(job)}</span>
        </div>
      </div>
    </Card>
  )
}
