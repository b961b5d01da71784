/** The Job page in words: four facts, one lead, and PCs that hold nothing. */
import type { JobView } from '../../../shared/messages/control.ts'
import { lossWords } from './curve.ts'
import { count, duration, few, percent, timeRange } from './numbers.ts'
import { clusterInText, nameOf } from './pool-names.ts'
import { slowestOf } from './pool-status.ts'
import { asSentence } from './sentence.ts'

type Clusters = NonNullable<JobView['plan']>['layout']['clusters']

export interface Fact {
  readonly name: string
  readonly value: string
  readonly note: string
}

function timeFact({ result, secondsLeft, stalledForSeconds }: JobView): Fact {
  if (result !== null) return { name: 'Time', value: duration(result.seconds), note: 'it took' }
  if (stalledForSeconds !== undefined)
    return { name: 'Time left', value: 'stalled', note: `for ${duration(stalledForSeconds)}` }
  if (secondsLeft === null) return { name: 'Time left', value: 'not known', note: 'yet' }
  return { name: 'Time left', value: timeRange(secondsLeft), note: '' }
}

function validationFact(job: JobView): Fact {
  const score = job.validationCurve.at(-1)?.scores
  if (score === undefined) return { name: 'Validation', value: 'none', note: 'yet' }
  return {
    name: 'Validation',
    value: percent(score.accuracy),
    note: `right, loss ${lossWords(score.loss)}`,
  }
}

/** Each fact is a value, or words for why there is none yet. */
export function factsOf(job: JobView): Fact[] {
  const share = job.targetUpdates === 0 ? 0 : job.updates / job.targetUpdates
  const moves = job.samplesPerSecond > 0 && job.phase === 'training'
  return [
    {
      name: 'Done',
      value: percent(share),
      note: `${count(job.updates)} ${job.updates === 1 ? 'update' : 'updates'}`,
    },
    timeFact(job),
    moves
      ? { name: 'Pool speed', value: few(job.samplesPerSecond), note: 'samples/s' }
      : { name: 'Samples', value: count(job.samples), note: 'trained' },
    validationFact(job),
  ]
}

/** Who sets the pace of the cluster that this PC is in. */
function paceWords(job: JobView, self: string): string {
  const clusters = job.plan?.layout.clusters ?? []
  const index = clusters.findIndex(({ stages }) => stages.some(({ peer }) => peer === self))
  const slowest = slowestOf(clusters[index]?.stages ?? [])
  if (slowest === undefined || job.plan?.active.includes(index) !== true) return ''
  const who = slowest === self ? 'This PC' : nameOf(slowest, job.members)
  return ` ${who} sets the pace of ${clusterInText(index)}.`
}

const pcsOf = (clusters: Clusters): number => clusters.reduce((sum, { stages }) => sum + stages.length, 0)

function whoTrains(clusters: Clusters, active: readonly number[]): string {
  const all = pcsOf(clusters)
  if (all === 1) return 'One PC trains it alone.'
  const where = clusters.length === 1 ? '1 cluster' : `${clusters.length} clusters`
  if (active.length >= clusters.length) return `${all} PCs in ${where} train it.`
  if (active.length === 0) return `None of its ${all} PCs trains now: no whole cluster is left.`
  const who =
    active.length > 2
      ? `${active.length} of ${clusters.length} clusters`
      : active.map((index) => clusterInText(index)).join(' and ')
  return `${pcsOf(clusters.filter((_, index) => active.includes(index)))} of ${all} PCs train it now, in ${who}.`
}

function hostWords({ role, hostName }: JobView): string {
  if (role === 'host') return 'Hosted by this PC. '
  return hostName === undefined ? '' : `Hosted by ${hostName}. `
}

/** A member's own share beside the pool's figures. */
function ownWords({ role, members }: JobView, self: string): string {
  const samples = members.find(({ peer }) => peer === self)?.samples ?? 0
  return role === 'host' || samples === 0 ? '' : ` This PC has trained ${count(samples)} samples.`
}

/** Why it ended is said by the banner below. */
export function jobLead(job: JobView, self: string): string {
  const host = hostWords(job)
  if (job.result !== null)
    return job.members.length > 1 ? `${host}${job.members.length} PCs took part.` : `${host}It has ended.`
  const clusters = job.plan?.layout.clusters ?? []
  if (clusters.length === 0 || job.phase !== 'training') return `${host}${asSentence(job.text)}`
  return `${host}${whoTrains(clusters, job.plan?.active ?? [])}${paceWords(job, self)}${ownWords(job, self)}`
}

/** PCs that joined and hold nothing, with the planner's reason. */
export const unusedWords = (job: JobView): string[] =>
  (job.plan?.layout.unused ?? []).map(
    ({ peer, reason }) => `${nameOf(peer, job.members)} holds no layers: ${reason}.`,
  )
