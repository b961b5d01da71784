/** Members hear from their host how the job goes: names, curves, validations, time left. */
import { describe, expect, it } from 'vitest'
import type { JobView } from '../../shared/messages/control.ts'
import type { Header, WireMessage } from '../../shared/messages/wire.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

const pool = {
  memories: [49_500, 49_500, 36_500, 36_500, 36_500],
  clusters: 2,
  spec: smallJob({ updates: 400, everyUpdates: 50 }),
}

/** What a member should see as its host does. */
const shared = ({ members, ...view }: Omit<JobView, 'invite'>) => ({
  ...{ hostName: view.hostName, updates: view.updates, samples: view.samples },
  ...{ trainingCurve: view.trainingCurve, validationCurve: view.validationCurve },
  names: members.map(({ peer, displayName }) => [peer, displayName]),
})

async function endAll(scenario: Scenario) {
  await scenario.end(scenario.host)
  for (const member of scenario.members) await scenario.end(member)
  return {
    seen: scenario.members.map(({ participation }) => participation.view()),
    host: scenario.host.participation.view(),
  }
}

const isNews = ({ header }: WireMessage): boolean => header.type === 'job-news'

describe('a member', () => {
  it('sees the pool, the curves and the validations as its host does, also when it hears of them late', async () => {
    const asked: string[] = []
    const scenario = await startScenario({
      ...pool,
      // One member hears nothing for a while, and another misses some in the middle.
      drop: (_from, to, message, nowMs) =>
        isNews(message) &&
        ((to === 'pc-1' && nowMs < 3_000) || (to === 'pc-2' && nowMs > 2_000 && nowMs < 4_000)),
      tap: (from, _to, { header }) => {
        if (header.type === 'job-news-request') asked.push(from)
      },
    })
    const { seen, host } = await endAll(scenario)
    expect(host.validationCurve).toHaveLength(9)
    expect(host.trainingCurve.length).toBeGreaterThan(8)
    for (const view of seen) expect(shared(view)).toEqual(shared(host))
    expect([...new Set(asked)].sort()).toEqual(['pc-1', 'pc-2'])
    expect(asked.length).toBeLessThan(6)
    const validations = ({ log }: Omit<JobView, 'invite'>) =>
      log.filter(({ text }) => text.includes('validation loss')).map(({ text }) => text)
    expect(validations(seen[2]!)).toEqual(validations(host))
    expect(scenario.warnings).toEqual([])
  })

  it('keeps its own state and numbers, and tells the others’ as the host does', async () => {
    const scenario = await startScenario({ ...pool, spec: smallJob({ updates: 10_000 }) })
    await scenario.until(({ phase, updates }) => phase === 'training' && updates > 50)
    const friend = scenario.members[0]!
    const view = friend.participation.view()
    expect(view.members.map(({ state }) => state)).toEqual([
      'training',
      'training',
      'training',
      'training',
      'training',
    ])
    expect(view.samplesPerSecond).toBeGreaterThan(0)
    expect(view.secondsLeft).not.toBeNull()
    expect(view.lastAveragedAtMs).toBeGreaterThan(0)
    friend.participation.pause()
    await scenario.until(() => friend.participation.own().state === 'paused')
    const self = friend.participation.view().members.find(({ peer }) => peer === friend.name)!
    expect(self.state).toBe('paused')
    const gone = scenario.members.find(({ participation }) => participation.own().state === 'training')!
    await scenario.lose(gone.name)
    await scenario.clock.advance(2_000)
    const lost = friend.participation.view().members.find(({ peer }) => peer === gone.name)!
    expect(lost.state).toBe('lost')
    const byHost = scenario.host.participation.view().members.find(({ peer }) => peer === gone.name)!
    expect(Math.abs(lost.lostAtMs! - byHost.lostAtMs!)).toBeLessThan(10)
  })

  it('shows itself where it hears nothing', async () => {
    const scenario = await startScenario({ ...pool, drop: (_from, _to, message) => isNews(message) })
    const { seen } = await endAll(scenario)
    for (const [index, view] of seen.entries()) {
      expect(view.members.map(({ peer }) => peer)).toEqual([`pc-${index + 1}`])
      expect([view.hostName, view.validationCurve]).toEqual([undefined, []])
    }
  })

  it('believes only its host', async () => {
    const scenario = await startScenario({ ...pool, spec: smallJob({ updates: 10_000 }) })
    await scenario.until(({ phase }) => phase === 'training')
    const header: Header<'job-news'> = {
      ...{ type: 'job-news', job: scenario.host.participation.view().job, plan: 1, sequence: 0 },
      ...{ hostName: 'mallory', phase: 'training', text: '', updates: 1, targetUpdates: 1, samples: 1 },
      ...{ samplesPerSecond: 1, secondsLeft: null, members: [], log: [] },
    }
    const message = { header, tensors: [] }
    await scenario.clock.runUntil(scenario.network.linksOf('pc-2').send('pc-1', message))
    await scenario.clock.runUntil(scenario.network.linksOf('pc-2').send('host', message))
    await scenario.clock.advance(50)
    expect(scenario.members[0]!.participation.view().hostName).toBe('host')
    expect(scenario.warnings).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('only the host may send job-news') as string),
    )
  })
})

describe('the news', () => {
  it('are small, about one a second to each, and at once where the phase changes', async () => {
    const news: {
      readonly to: string
      readonly bytes: number
      readonly phase: string
      readonly atMs: number
    }[] = []
    const scenario = await startScenario({
      ...pool,
      tap: (_from, to, { header }, atMs) => {
        if (header.type !== 'job-news') return
        news.push({
          to,
          bytes: JSON.stringify(header).length,
          phase: header.phase,
          atMs,
        })
      },
    })
    await scenario.until(({ phase }) => phase === 'training')
    const begunMs = scenario.clock.now()
    await endAll(scenario)
    const training = news.find(({ to, phase }) => to === 'pc-1' && phase === 'training')!
    expect(training.atMs - begunMs).toBeLessThan(10)
    expect(Math.max(...news.map(({ bytes }) => bytes))).toBeLessThan(4_000)
    const seconds = (scenario.clock.now() - begunMs) / 1000
    const heard = news.filter(({ to, atMs }) => to === 'pc-1' && atMs >= begunMs).length
    expect(heard).toBeGreaterThan(seconds / 2)
    expect(heard).toBeLessThan(2 * seconds + 6)
  })
})
