/** What a member heard of the job from its host: kept as the host's newest news left it. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { JobView, MemberView } from '../../../../shared/messages/control.ts'
import type { JobNews, MemberNews } from '../../../../shared/messages/job-news.ts'
import { second, type Millis } from '../../../../shared/units.ts'
import type { JobLog } from '../job-log.ts'

/** A host that says more is no honest one. */
const mostMembers = 1024
/** Something was missed: ask for all of it, and not again before so long. */
const askEveryMs = 5 * second
/** Older than this, the pace and the time left are no news any more. */
const freshForMs = 15 * second

/** A curve that arrives in pieces. What is shown is the newest that was whole. */
class CurveCopy<P> {
  #coming: P[] = []
  shown: readonly P[] = []

  /** False when a piece before this one was missed. */
  hear({
    from,
    total,
    points,
  }: {
    readonly from: number
    readonly total: number
    readonly points: readonly P[]
  }) {
    if (from === 0) this.#coming = []
    if (from !== this.#coming.length || from + points.length > total) return false
    this.#coming.push(...points)
    if (this.#coming.length === total) this.shown = [...this.#coming]
    return true
  }
}

export type NewsHead = Pick<
  JobNews,
  | 'hostName'
  | 'text'
  | 'updates'
  | 'targetUpdates'
  | 'samples'
  | 'samplesPerSecond'
  | 'secondsLeft'
  | 'stalledForSeconds'
>

export class HeardNews {
  readonly #log: JobLog
  readonly #members = new Map<PeerId, MemberView>()
  readonly #training = new CurveCopy<[number, number]>()
  readonly #validation = new CurveCopy<[number, number, number, number, number]>()
  /** Of the next news. */
  #sequence = 0
  /** Of the next line. */
  #line = 0
  #askedMs = -Infinity
  #heardMs = -Infinity
  #head: NewsHead | undefined
  lastAveragedAtMs: Millis | undefined

  /** @param log - takes the host's lines as they come, beside our own */
  constructor(log: JobLog) {
    this.#log = log
  }

  /** @returns whether something was missed and the host is to tell all of it again */
  hear(news: JobNews, nowMs: Millis): boolean {
    if (news.sequence === 0) this.#sequence = 0
    const isNext = news.sequence === this.#sequence
    const whole = isNext && this.#hearCurves(news)
    if (!isNext || !whole) return this.#mayAsk(nowMs)
    this.#sequence++
    this.#heardMs = nowMs
    this.#head = news
    this.lastAveragedAtMs = news.averagedForMs === undefined ? undefined : nowMs - news.averagedForMs
    for (const member of news.members) this.#hearMember(member, nowMs)
    for (const { number, agoMs, kind, text } of news.log) {
      if (number < this.#line) continue
      this.#line = number + 1
      this.#log.hear({ atMs: nowMs - agoMs, kind, text })
    }
    return false
  }

  #hearCurves({ training, validation }: JobNews): boolean {
    const heard = [
      training === undefined || this.#training.hear(training),
      validation === undefined || this.#validation.hear(validation),
    ]
    return heard.every(Boolean)
  }

  #hearMember({ lostForMs, ...member }: MemberNews, nowMs: Millis): void {
    if (!this.#members.has(member.peer) && this.#members.size >= mostMembers) return
    const lost = lostForMs === undefined ? {} : { lostAtMs: nowMs - lostForMs }
    this.#members.set(member.peer, { ...member, ...lost })
  }

  #mayAsk(nowMs: Millis): boolean {
    if (nowMs - this.#askedMs < askEveryMs) return false
    this.#askedMs = nowMs
    return true
  }

  /** Undefined before the first news. */
  get head(): NewsHead | undefined {
    return this.#head
  }

  isFresh(nowMs: Millis): boolean {
    return nowMs - this.#heardMs <= freshForMs
  }

  /** Everyone of the job, as the host knows them. */
  get members(): readonly MemberView[] {
    return [...this.#members.values()]
  }

  get trainingCurve(): JobView['trainingCurve'] {
    return this.#training.shown.map(([updates, loss]) => ({ updates, loss }))
  }

  get validationCurve(): JobView['validationCurve'] {
    return this.#validation.shown.map(([updates, loss, accuracy, top5, perplexity]) => ({
      updates,
      scores: { loss, accuracy, top5, perplexity },
    }))
  }
}
