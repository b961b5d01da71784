/** A member's own view, and around it the job as its host tells it. */
import type { JobView, MemberView } from '../../../../shared/messages/control.ts'
import type { Millis } from '../../../../shared/units.ts'
import { withNames } from '../named.ts'
import type { HeardNews, NewsHead } from './heard-news.ts'

type OwnView = Omit<JobView, 'invite' | 'result'>

/** What a PC knows of itself is fresher; only the host knows what share of the time it worked. */
function withSelf(members: readonly MemberView[], self: MemberView): MemberView[] {
  const known = members.some(({ peer }) => peer === self.peer)
  const merged = members.map((member) =>
    member.peer === self.peer ? { ...self, busyShare: member.busyShare } : member,
  )
  return known ? merged : [self, ...members]
}

/** Without news, or where they say nothing of it, the own view stays as it is. */
export function withNews(own: OwnView, news: HeardNews, nowMs: Millis): OwnView {
  const view = withHeard(own, news, nowMs)
  return {
    ...view,
    text: withNames(view.text, view.members),
    members: view.members.map((member) => ({ ...member, reason: withNames(member.reason, view.members) })),
  }
}

/** How fast it goes by the newest news, or what a stall waits for. */
function paceOf({ phase }: OwnView, head: NewsHead): Partial<OwnView> {
  const { samplesPerSecond, secondsLeft, stalledForSeconds, text } = head
  if (phase === 'ended') return {}
  const isStalled = phase === 'training' && stalledForSeconds !== undefined
  return { samplesPerSecond, secondsLeft, ...(isStalled ? { text, stalledForSeconds } : {}) }
}

function withHeard(own: OwnView, news: HeardNews, nowMs: Millis): OwnView {
  const { head, lastAveragedAtMs } = news
  const [self] = own.members
  if (head === undefined || self === undefined) return own
  const { hostName, updates, targetUpdates, samples } = head
  const { trainingCurve, validationCurve } = news
  return {
    ...own,
    ...{ hostName, updates, samples },
    members: withSelf(news.members, self),
    targetUpdates: own.targetUpdates === 0 ? targetUpdates : own.targetUpdates,
    ...(news.isFresh(nowMs) ? paceOf(own, head) : {}),
    ...(trainingCurve.length > 0 ? { trainingCurve } : {}),
    validationCurve,
    ...(lastAveragedAtMs === undefined ? {} : { lastAveragedAtMs }),
  }
}
