/** The Job page in words: four facts, one lead, what is wrong and what it costs. */
import type { JobView, MemberView } from '../../../shared/messages/control.ts'
import { asSentence } from './sentence.ts'
import { clusterName, layersInWords, nameOf, slowestOf } from './pool-layout.ts'
import { count, duration, few, percent, range } from './numbers.ts'
import { lossWords } from './curve.ts'

export interface Fact {
  readonly name: string
  readonly value: string
  readonly note: string
}

/** Each fact is a value, or words for why there is none yet. */
export function factsOf(job: JobView): Fact[] {
  const share = job.targetUpdates === 0 ? 0 : job.updates / job.targetUpdates
  const score = job.validationCurve.at(-1)?.scores
  const left =
    job.result === null
      ? job.secondsLeft === null
        ? { value: 'not known', note: 'yet' }
        : { value: range(job.secondsLeft, duration), note: '' }
      : { value: duration(job.result.seconds), note: 'it took' }
  return [
    { name: 'Done', value: percent(share), note: `${count(job.updates)} updates` },
    { name: job.result === null ? 'Time left' : 'Time', ...left },
    job.samplesPerSecond > 0 && job.result === null
      ? { name: 'Pool speed', value: few(job.samplesPerSecond), note: 'samples/s' }
      : { name: 'Samples', value: count(job.samples), note: 'trained' },
    score === undefined
      ? { name: 'Validation', value: 'none', note: job.role === 'host' ? 'yet' : 'the host sees it' }
      : { name: 'Validation', value: percent(score.accuracy), note: `right, loss ${lossWords(score.loss)}` },
  ]
}

const held = (job: JobView): string[] =>
  job.plan?.layout.clusters.flatMap(({ stages }) => stages.map(({ peer }) => peer)) ?? []

/** Who sets the pace of the cluster that this PC is in. */
function paceWords(job: JobView, self: string): string {
  const clusters = job.plan?.layout.clusters ?? []
  const index = clusters.findIndex(({ stages }) => stages.some(({ peer }) => peer === self))
  const slowest = clusters[index] === undefined ? undefined : slowestOf(clusters[index].stages)
  if (slowest === undefined) return ''
  return slowest === self
    ? ` This PC sets the pace of ${clusterName(index).toLowerCase()}.`
    : ` ${nameOf(slowest, job.members)} sets the pace of ${clusterName(index).toLowerCase()}.`
}

export function jobLead(job: JobView, self: string): string {
  if (job.result !== null) return asSentence(job.result.reason)
  const mine = job.role === 'host' ? 'Hosted by this PC. ' : ''
  const peers = held(job).length
  if (peers === 0 || job.phase !== 'training') return `${mine}${asSentence(job.text)}`
  const clusters = job.plan?.layout.clusters.length ?? 0
  const where = clusters === 1 ? '1 cluster' : `${clusters} clusters`
  const who = peers === 1 ? 'One PC trains it alone.' : `${peers} PCs in ${where} train it.`
  return `${mine}${who}${paceWords(job, self)}`
}

export interface JobTrouble {
  readonly tone: 'caution' | 'trouble' | 'fine'
  readonly title: string
  readonly text: string
}

function lostWords(job: JobView, lost: readonly MemberView[]): JobTrouble {
  const names = lost.map(({ displayName }) => displayName).join(', ')
  const clusters = job.plan?.layout.clusters ?? []
  const missing = clusters.flatMap(({ stages }) =>
    stages
      .filter(({ peer }) => lost.some((member) => member.peer === peer))
      .map(({ layers }) => layersInWords(layers)),
  )
  const left = job.plan?.active.length ?? 0
  const rest =
    left === 0
      ? 'No whole cluster is left, so training waits.'
      : `${left === 1 ? 'One cluster goes' : `${left} clusters go`} on, at ${few(job.samplesPerSecond)} samples/s.`
  const why = lost[0]?.reason === undefined || lost[0].reason === '' ? '' : `${asSentence(lost[0].reason)} `
  const gone =
    missing.length === 0
      ? ''
      : `With ${lost.length === 1 ? 'it' : 'them'} ${missing.join(', ')} ${missing.length === 1 && missing[0]?.startsWith('layer ') ? 'is' : 'are'} missing. `
  return {
    tone: left === 0 ? 'trouble' : 'caution',
    title: `${names} ${lost.length === 1 ? 'is' : 'are'} lost`,
    text: `${why}${gone}${rest}`,
  }
}

/** What a person should know first; undefined while all is well. */
export function troubleOf(job: JobView, self: string): JobTrouble | undefined {
  if (job.result !== null) {
    const title = {
      finished: 'The job is finished',
      stopped: 'The job was stopped',
      failed: 'The job failed',
    }[job.result.outcome]
    const kept = job.result.model === null ? '' : ' Its model is on Host: evaluate it, try it, export it.'
    return {
      tone: job.result.outcome === 'failed' ? 'trouble' : 'fine',
      title,
      text: `${asSentence(job.result.reason)}${kept}`,
    }
  }
  const lost = job.members.filter(({ state, peer }) => state === 'lost' && held(job).includes(peer))
  if (lost.length > 0) return lostWords(job, lost)
  const me = job.members.find(({ peer }) => peer === self)
  if (job.phase === 'training' && me?.state === 'idle')
    return {
      tone: 'caution',
      title: 'This PC waits',
      text: `${asSentence(me.reason === '' ? job.text : me.reason)} You need not do anything.`,
    }
  return undefined
}

/** PCs that joined and hold nothing, with the planner's reason. */
export const unusedWords = (job: JobView): string[] =>
  (job.plan?.layout.unused ?? []).map(
    ({ peer, reason }) => `${nameOf(peer, job.members)} holds no layers: ${asSentence(reason)}`,
  )
