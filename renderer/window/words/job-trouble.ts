/** What a person should know first about a job: who is lost, what that costs, how it ended. */
import type { JobView, MemberView } from '../../../shared/messages/control.ts'
import { layersInWords } from '../../../shared/plan/words.ts'
import { few } from './numbers.ts'
import { asSentence } from './sentence.ts'

export interface JobTrouble {
  readonly tone: 'caution' | 'trouble' | 'fine'
  readonly title: string
  readonly text: string
}

const stagesOf = (job: JobView) => job.plan?.layout.clusters.flatMap(({ stages }) => stages) ?? []

/** "layers 8–10 are missing", or nothing where the lost PCs held none. */
function missingWords(job: JobView, lost: readonly MemberView[]): string {
  const stages = stagesOf(job).filter(({ peer }) => lost.some((member) => member.peer === peer))
  if (stages.length === 0) return ''
  const one = stages.length === 1 && stages.every(({ layers }) => layers[1] - layers[0] === 1)
  const names = stages.map(({ layers }) => layersInWords(layers)).join(', ')
  return `With ${lost.length === 1 ? 'it' : 'them'}, ${names} ${one ? 'is' : 'are'} missing. `
}

function restWords(active: number, samplesPerSecond: number): string {
  if (active === 0) return 'No whole cluster is left, so training waits.'
  const who = active === 1 ? 'One cluster goes' : `${active} clusters go`
  return `${who} on, at ${few(samplesPerSecond)}\u00a0samples/s. You need not do anything.`
}

function lostTrouble(job: JobView, lost: readonly MemberView[]): JobTrouble {
  const active = job.plan?.active.length ?? 0
  const reason = lost[0]?.reason ?? ''
  const why = reason === '' || lost.length > 1 ? '' : `${asSentence(reason)} `
  return {
    tone: active === 0 ? 'trouble' : 'caution',
    title: `${lost.map(({ displayName }) => displayName).join(', ')} ${lost.length === 1 ? 'is' : 'are'} lost`,
    text: `${why}${missingWords(job, lost)}${restWords(active, job.samplesPerSecond)}`,
  }
}

const endings = { finished: 'The job is finished', stopped: 'The job was stopped', failed: 'The job failed' }

function endOf({ outcome, reason, model }: NonNullable<JobView['result']>): JobTrouble {
  const kept = model === null ? '' : ' Its model is on Host: evaluate it, try it, export it.'
  return {
    tone: outcome === 'failed' ? 'trouble' : 'fine',
    title: endings[outcome],
    text: `${asSentence(reason)}${kept}`,
  }
}

/** Undefined while all is well. */
export function troubleOf(job: JobView, self: string): JobTrouble | undefined {
  if (job.result !== null) return endOf(job.result)
  const held = stagesOf(job).map(({ peer }) => peer)
  const lost = job.members.filter(({ state, peer }) => state === 'lost' && held.includes(peer))
  if (lost.length > 0) return lostTrouble(job, lost)
  const me = job.members.find(({ peer }) => peer === self)
  if (job.phase !== 'training' || me?.state !== 'idle') return undefined
  const reason = asSentence(me.reason === '' ? job.text : me.reason)
  return { tone: 'caution', title: 'This PC waits', text: `${reason} You need not do anything.` }
}
