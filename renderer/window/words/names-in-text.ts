/** The agent's sentences name PCs by their keys where it speaks of links; people read names. */
import type { JobView } from '../../../shared/messages/control.ts'
import { nameOf } from './pool-names.ts'
import { shownName } from './shown-name.ts'

/** Shorter ones are names already: a word of a sentence could be one by chance. */
const shortestKey = 20

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

function keysOf({ plan, members }: JobView): string[] {
  const layout = plan?.layout
  const held = layout?.clusters.flatMap(({ stages }) => stages.map(({ peer }) => peer)) ?? []
  const unused = layout?.unused.map(({ peer }) => peer) ?? []
  const all = [...held, ...unused, ...members.map(({ peer }) => peer)]
  return [...new Set(all)].filter((peer) => peer.length >= shortestKey)
}

/** The same job as people read it: names safe to stand in a sentence, and in place of keys. */
export function withNames(job: JobView): JobView {
  const members = job.members.map((member) => ({ ...member, displayName: shownName(member.displayName) }))
  const keys = keysOf(job)
  const any = keys.length === 0 ? undefined : new RegExp(keys.map(escaped).join('|'), 'g')
  const named = (text: string): string =>
    any === undefined ? text : text.replaceAll(any, (peer) => nameOf(peer, members))
  return {
    ...job,
    name: shownName(job.name),
    text: named(job.text),
    members: members.map((member) => ({ ...member, reason: named(member.reason) })),
    log: job.log.map(({ atMs, text }) => ({ atMs, text: named(text) })),
  }
}
