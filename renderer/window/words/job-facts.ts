/** The Job page in words: four facts, one lead, and PCs that hold nothing. */
import type { JobView } from '../../../shared/messages/control.ts'
import { lossWords } from './curve.ts'
import { count, duration, few, percent, range } from './numbers.ts'
import { clusterName, nameOf, slowestOf } from './pool-layout.ts'
import { asSentence } from './sentence.ts'

export interface Fact {
  readonly name: string
  readonly value: string
  readonly note: string
}

function timeFact({ result, secondsLeft }: JobView): Fact {
  if (result !== null) return { name: 'Time', value: duration(result.seconds), note: 'it took' }
  if (secondsLeft === null) return { name: 'Time left', value: 'not known', note: 'yet' }
  return { name: 'Time left', value: range(secondsLeft, duration), note: '' }
}

function validationFact(job: JobView): Fact {
  const score = job.validationCurve.at(-1)?.scores
  if (score === undefined)
    return { name: 'Validation', value: 'none', note: job.role === 'host' ? 'yet' : 'host sees it' }
  return {
    name: 'Validation',
    value: percent(score.accuracy),
    note: `right, loss ${lossWords(score.loss)}`,
  }
}

/** Each fact is a value, or words for why there is none yet. */
export function factsOf(job: JobView): Fact[] {
  const share = job.targetUpdates === 0 ? 0 : job.updates / job.targetUpdates
  const moves = job.samplesPerSecond > 0 && job.result === null
  return [
    { name: 'Done', value: percent(share), note: `${count(job.updates)} updates` },
    timeFact(job),
    moves
      ? { name: 'Pool speed', value: few(job.samplesPerSecond), note: 'samples/s' }
      : { name: 'Samples', value: count(job.samples), note: 'trained' },
    validationFact(job),
  ]
}

/** "Cluster A" within a sentence. */
const inText = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** Who sets the pace of the cluster that this PC is in. */
function paceWords(job: JobView, self: string): string {
  const clusters = job.plan?.layout.clusters ?? []
  const index = clusters.findIndex(({ stages }) => stages.some(({ peer }) => peer === self))
  const slowest = slowestOf(clusters[index]?.stages ?? [])
  if (slowest === undefined) return ''
  const who = slowest === self ? 'This PC' : nameOf(slowest, job.members)
  return ` ${who} sets the pace of ${inText(clusterName(index))}.`
}

export function jobLead(job: JobView, self: string): string {
  if (job.result !== null) return asSentence(job.result.reason)
  const mine = job.role === 'host' ? 'Hosted by this PC. ' : ''
  const clusters = job.plan?.layout.clusters ?? []
  const peers = clusters.reduce((sum, { stages }) => sum + stages.length, 0)
  if (peers === 0 || job.phase !== 'training') return `${mine}${asSentence(job.text)}`
  const where = clusters.length === 1 ? '1 cluster' : `${clusters.length} clusters`
  const who = peers === 1 ? 'One PC trains it alone.' : `${peers} PCs in ${where} train it.`
  return `${mine}${who}${paceWords(job, self)}`
}

/** PCs that joined and hold nothing, with the planner's reason. */
export const unusedWords = (job: JobView): string[] =>
  (job.plan?.layout.unused ?? []).map(
    ({ peer, reason }) => `${nameOf(peer, job.members)} holds no layers: ${reason}.`,
  )
