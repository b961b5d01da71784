/** How a job ended, in plain words. */
import type { JobResult, JobView } from '../../../shared/messages/control.ts'
import { harmless } from './columns.ts'
import { formatBytes, formatCount, formatDuration, formatLoss, formatShare } from './numbers.ts'

/** `loss 0.214, accuracy 94.2%` */
export function scoresText(scores: { readonly loss: number; readonly accuracy: number }): string {
  return `loss ${formatLoss(scores.loss)}, accuracy ${formatShare(scores.accuracy, 1)}`
}

export function sentText(sent: JobResult['bytesSent']): string {
  const parts = Object.entries(sent).map(([name, bytes]) => `${name} ${formatBytes(bytes)}`)
  return parts.join(', ')
}

const lostText = ({ lostSamples = 0 }: JobResult): string[] =>
  lostSamples > 0
    ? [`  ${formatCount(lostSamples)} samples were trained in vain: lost with PCs that went away`]
    : []

export function resultText(job: Pick<JobView, 'name'> & { readonly result: JobResult }): string {
  const { result } = job
  const reason = result.reason === '' ? '' : `: ${harmless(result.reason)}`
  return [
    `${harmless(job.name)} ${result.outcome}${reason}`,
    `  ${formatCount(result.updates)} updates on ${formatCount(result.samples)} samples in ${formatDuration(result.seconds)}`,
    ...lostText(result),
    ...(result.validation === null ? [] : [`  held-out samples: ${scoresText(result.validation)}`]),
    `  sent to other peers: ${sentText(result.bytesSent)}`,
    ...(result.model === null ? [] : [`  model: ${result.model}`]),
  ].join('\n')
}
