/** What one member was told already, and so what is news to it. */
import type { PeerId } from '../../../../shared/ids.ts'
import type { JobView, MemberView } from '../../../../shared/messages/control.ts'
import { type JobNews, longestNews, type MemberNews, mostNews } from '../../../../shared/messages/job-news.ts'
import type { Millis } from '../../../../shared/units.ts'
import type { Curve } from '../curve.ts'
import type { HostState } from './host-state.ts'

/** Older lines are history that a newcomer does without. */
const mostLinesAtFirst = 24

interface Piece<P> {
  readonly from: number
  readonly total: number
  readonly points: P[]
}

/** How far a curve was told. */
class CurveTold {
  #thinnings = 0
  #count = 0

  /** The next points, or undefined where there are none. */
  next<Point, P>(curve: Curve<Point>, most: number, pack: (point: Point) => P): Piece<P> | undefined {
    if (curve.thinnings !== this.#thinnings) this.#count = 0
    this.#thinnings = curve.thinnings
    const from = this.#count
    const points = curve.points.slice(from, from + most).map(pack)
    this.#count += points.length
    return points.length === 0 ? undefined : { from, total: curve.points.length, points }
  }
}

/** JSON knows no infinity, and exp(loss) may be one. */
const finite = (value: number) => (Number.isFinite(value) ? value : Number.MAX_VALUE)

function newsOfMember(view: MemberView, nowMs: Millis): MemberNews {
  const { lostAtMs, ...rest } = view
  return {
    ...rest,
    displayName: view.displayName.slice(0, longestNews.name),
    reason: view.reason.slice(0, longestNews.reason),
    busyShare: Math.round(view.busyShare * 1000) / 1000,
    ...(lostAtMs === undefined ? {} : { lostForMs: nowMs - lostAtMs }),
  }
}

export class NewsLetter {
  #sequence = 0
  #head = ''
  readonly #members = new Map<PeerId, string>()
  readonly #training = new CurveTold()
  readonly #validation = new CurveTold()
  #lines: number | undefined

  /** The next news, and they count as told; undefined where there are none. */
  next(host: HostState, view: Omit<JobView, 'invite'>): JobNews | undefined {
    const nowMs = host.ports.clock.now()
    const head = {
      hostName: (view.hostName ?? '').slice(0, longestNews.name),
      phase: view.phase,
      text: view.text.slice(0, longestNews.text),
      updates: view.updates,
      targetUpdates: view.targetUpdates,
      samples: view.samples,
      samplesPerSecond: view.samplesPerSecond,
      secondsLeft: view.secondsLeft,
      ...(view.stalledForSeconds === undefined ? {} : { stalledForSeconds: view.stalledForSeconds }),
    }
    const news = {
      members: this.#nextMembers(view.members, nowMs),
      training: this.#training.next(host.trainingCurve, mostNews.training, ({ updates, loss }) => [
        updates,
        loss,
      ]) as JobNews['training'],
      validation: this.#validation.next(host.validationCurve, mostNews.validation, ({ updates, scores }) => {
        const { loss, accuracy, top5, perplexity } = scores
        return [updates, loss, accuracy, top5, finite(perplexity)]
      }) as JobNews['validation'],
      log: this.#nextLines(host, nowMs),
    }
    const text = JSON.stringify(head)
    const isNew = text !== this.#head || news.members.length + news.log.length > 0
    if (!isNew && news.training === undefined && news.validation === undefined) return undefined
    this.#head = text
    const averaged = view.lastAveragedAtMs
    const { training, validation, ...lists } = news
    return {
      ...{ sequence: this.#sequence++, ...head, ...lists },
      ...(averaged === undefined ? {} : { averagedForMs: nowMs - averaged }),
      ...(training === undefined ? {} : { training }),
      ...(validation === undefined ? {} : { validation }),
    }
  }

  #nextMembers(members: readonly MemberView[], nowMs: Millis): MemberNews[] {
    const changed = members
      .map((view) => ({ view, text: JSON.stringify(view) }))
      .filter(({ view, text }) => this.#members.get(view.peer) !== text)
      .slice(0, mostNews.members)
    for (const { view, text } of changed) this.#members.set(view.peer, text)
    return changed.map(({ view }) => newsOfMember(view, nowMs))
  }

  #nextLines({ log }: HostState, nowMs: Millis): JobNews['log'] {
    const first = log.said - log.lines.length
    const begin = Math.max(first, this.#lines ?? log.said - mostLinesAtFirst)
    const lines = log.lines.slice(begin - first, begin - first + mostNews.log)
    this.#lines = begin + lines.length
    return lines.map(({ atMs, kind, text }, index) => ({
      number: begin + index,
      agoMs: Math.max(0, nowMs - atMs),
      kind,
      text: text.slice(0, longestNews.text),
    }))
  }
}
