/** What a host's letters say to a member that keeps what it hears. */
import { describe, expect, it } from 'vitest'
import { HostState } from '../../../main/core/job/host/host-state.ts'
import { NewsLetter } from '../../../main/core/job/host/news-letter.ts'
import { createJobLog } from '../../../main/core/job/job-log.ts'
import { HeardNews } from '../../../main/core/job/member/heard-news.ts'
import type { JobView, MemberView } from '../../../shared/messages/control.ts'
import { type JobNews, longestNews, mostNews } from '../../../shared/messages/job-news.ts'
import { wireHeader } from '../../../shared/messages/wire.ts'
import { createVirtualClock } from '../../fakes/clock.ts'
import { smallJob } from '../../scenarios/pool.ts'

const clock = createVirtualClock()
const ports = { clock, log: () => undefined }
const job = 'a'.repeat(64)

const memberOf = (peer: string, change: Partial<MemberView> = {}): MemberView => ({
  ...{ peer, displayName: peer, state: 'training', reason: '', updates: 1, samples: 8, busyShare: 0.5 },
  ...{ peakTensorBytes: 1, maxStaleness: 0, droppedGradients: 0 },
  ...change,
})

function hostState(): HostState {
  const hosted = { job, spec: smallJob() }
  return new HostState({ ...ports, links: {}, vault: {} } as never, hosted as never, {} as never)
}

const viewOf = (members: readonly MemberView[]) =>
  ({
    ...{ hostName: 'attic-pc', phase: 'training', text: 'training', members, updates: 3, targetUpdates: 9 },
    ...{ samples: 24, samplesPerSecond: 5, secondsLeft: [1, 2] },
  }) as unknown as Omit<JobView, 'invite'>

function lettersOf(letter: NewsLetter, host: HostState, members: readonly MemberView[] = []): JobNews[] {
  const letters: JobNews[] = []
  for (;;) {
    const next = letter.next(host, viewOf(members))
    if (next === undefined) return letters
    letters.push(next)
  }
}

const curvesOf = (news: HeardNews) => [news.trainingCurve, news.validationCurve]
const scores = { loss: 1, accuracy: 0.5, top5: 0.9, perplexity: 2.7 }

describe('letters of news', () => {
  it('carry curves of any length, thinned or not, to members of any age', () => {
    const host = hostState()
    const early = { letter: new NewsLetter(), news: new HeardNews(createJobLog(ports)) }
    for (let updates = 1; updates <= 3000; updates++) {
      host.trainingCurve.add({ updates, loss: 1 / updates })
      if (updates % 7 === 0) host.validationCurve.add({ updates, scores })
      if (updates % 13 !== 0) continue
      for (const letter of lettersOf(early.letter, host)) expect(early.news.hear(letter, 0)).toBe(false)
      expect(curvesOf(early.news)).toEqual([host.trainingCurve.points, host.validationCurve.points])
    }
    for (const letter of lettersOf(early.letter, host)) early.news.hear(letter, 0)
    const late = new HeardNews(createJobLog(ports))
    for (const letter of lettersOf(new NewsLetter(), host)) late.hear(letter, 0)
    expect(curvesOf(late)).toEqual([host.trainingCurve.points, host.validationCurve.points])
  })

  it('tell what changed, once', () => {
    const host = hostState()
    const letter = new NewsLetter()
    const [a, b] = [memberOf('a'), memberOf('b')]
    expect(lettersOf(letter, host, [a, b]).map(({ members }) => members.length)).toEqual([2])
    expect(lettersOf(letter, host, [a, b])).toEqual([])
    host.log.say('b is gone', 'warn')
    const [news, ...more] = lettersOf(letter, host, [a, memberOf('b', { state: 'lost', lostAtMs: -5 })])
    expect(more).toEqual([])
    expect(news).toMatchObject({ sequence: 1, members: [{ peer: 'b', state: 'lost', lostForMs: 5 }] })
    expect(news!.log).toEqual([{ number: 0, agoMs: 0, kind: 'warn', text: 'b is gone' }])
  })

  it('stay below 16 kB and within the wire’s bounds, however long the names and reasons', () => {
    const host = hostState()
    const members = Array.from({ length: 32 }, (_, index) =>
      memberOf(`12D3KooW${String(index).padStart(44, 'x')}`, {
        ...{ displayName: 'n'.repeat(300), reason: 'r'.repeat(500), samples: 1e12, busyShare: 1 / 3 },
        ...{ updates: 1e7, peakTensorBytes: 1e11, state: 'lost', lostAtMs: -1e8 },
      }),
    )
    for (let updates = 0; updates < 400; updates++) {
      host.trainingCurve.add({ updates, loss: 1 / 3 })
      const loss = Math.PI
      host.validationCurve.add({ updates, scores: { ...scores, loss, perplexity: Infinity } })
    }
    for (let line = 0; line < 50; line++) host.log.say('l'.repeat(1000))
    const letters = lettersOf(new NewsLetter(), host, members)
    expect(letters.map((letter) => letter.members.length).slice(0, 3)).toEqual([24, 8, 0])
    for (const [index, letter] of letters.entries()) {
      const header = JSON.stringify({ type: 'job-news', job, plan: 0, ...letter })
      expect(header.length).toBeLessThan(16_384)
      expect(letter.sequence).toBe(index)
      expect(wireHeader.safeParse(JSON.parse(header)).error).toBeUndefined()
    }
  })
})

describe('a member that hears news', () => {
  function told() {
    const host = hostState()
    for (let updates = 0; updates < 100; updates++) host.trainingCurve.add({ updates, loss: 1 })
    host.log.say('a joined')
    return { host, letter: new NewsLetter(), log: createJobLog(ports) }
  }

  it('notices what it missed, keeps what it knew, and asks for all of it at most every five seconds', () => {
    const { host, letter, log } = told()
    const news = new HeardNews(log)
    const [first, second] = lettersOf(letter, host)
    expect(news.hear(second!, 0)).toBe(true)
    expect([news.hear(second!, 4_999), news.hear(second!, 5_000)]).toEqual([false, true])
    expect([news.head, news.trainingCurve]).toEqual([undefined, []])
    for (const letterAgain of lettersOf(new NewsLetter(), host)) news.hear(letterAgain, 6_000)
    expect(news.trainingCurve).toHaveLength(100)
    news.hear(first!, 7_000)
    expect(news.trainingCurve).toHaveLength(100)
    expect(log.lines.map(({ text }) => text)).toEqual(['a joined'])
  })

  it('knows when the pace it heard of is old', () => {
    const { host, letter, log } = told()
    const news = new HeardNews(log)
    for (const heard of lettersOf(letter, host)) news.hear(heard, 1_000)
    expect([news.isFresh(16_000), news.isFresh(16_001)]).toEqual([true, false])
  })

  it('keeps no more members than any honest job has', () => {
    const { host, letter, log } = told()
    const news = new HeardNews(log)
    const many = Array.from({ length: 2000 }, (_, index) => memberOf(`peer-${index}`))
    for (const heard of lettersOf(letter, host, many)) news.hear(heard, 0)
    expect(news.members).toHaveLength(1024)
  })
})

describe('news on the wire', () => {
  const letter: JobNews = {
    ...{ sequence: 0, hostName: 'x', phase: 'training', text: '', updates: 1, targetUpdates: 2, samples: 3 },
    ...{ samplesPerSecond: 1, secondsLeft: null, members: [], log: [] },
  }
  const line = { number: 0, agoMs: 0, kind: 'info', text: '' } as const
  const piece = { from: 0, total: 512 }
  const point: [number, number] = [1, 2]
  const parses = (change: object) =>
    wireHeader.safeParse({ type: 'job-news', job, plan: 0, ...letter, ...change }).success

  it.each<[string, object, object]>([
    [
      'members',
      { members: Array.from({ length: mostNews.members }, () => memberOf('a')) },
      { members: Array.from({ length: mostNews.members + 1 }, () => memberOf('a')) },
    ],
    [
      'points',
      { training: { ...piece, points: Array.from({ length: mostNews.training }, () => point) } },
      { training: { ...piece, points: Array.from({ length: mostNews.training + 1 }, () => point) } },
    ],
    ['a curve', { training: { ...piece, points: [] } }, { training: { ...piece, total: 513, points: [] } }],
    [
      'validations',
      { validation: { ...piece, points: [[1, 2, 0.5, 0.5, 9]] } },
      { validation: { ...piece, points: [[1, 2]] } },
    ],
    [
      'lines',
      { log: Array.from({ length: mostNews.log }, () => line) },
      { log: Array.from({ length: mostNews.log + 1 }, () => line) },
    ],
    [
      'a line',
      { log: [{ ...line, text: 'x'.repeat(longestNews.text) }] },
      { log: [{ ...line, text: 'x'.repeat(longestNews.text + 1) }] },
    ],
    ['a share', { members: [memberOf('a')] }, { members: [memberOf('a', { busyShare: 2 })] }],
    ['a member', { members: [memberOf('a')] }, { members: [{ ...memberOf('a'), lostAtMs: 1 }] }],
    ['fields', {}, { soon: true }],
  ])('are bounded in %s', (_, good, bad) => {
    expect([parses(good), parses(bad)]).toEqual([true, false])
  })
})
