/** A pool that cannot train waits for whoever is missing, and does next to nothing meanwhile. */
import { describe, expect, it } from 'vitest'
import { minute, second } from '../../shared/units.ts'
import { smallJob, startScenario } from './pool.ts'

const quarter = 30_000
const third = 36_500
const slow = { flopsPerSecond: 1e6, engineMs: [10, 30] as const }

describe('one of four PCs that is pulled', () => {
  it('does not leave the others spinning: each says once a second how it is, and that is all', async () => {
    const sent: string[] = []
    const scenario = await startScenario({
      ...{ ...slow, memories: [quarter, quarter, quarter, quarter], spec: smallJob({ updates: 60 }) },
      tap: (from, to, { header }) => { sent.push(`${from} ${to} ${header.type}`) }, // prettier-ignore
    })
    await scenario.until(({ updates }) => updates >= 4)
    const { plan } = scenario.host.participation.view()
    expect(plan!.layout.clusters.map(({ stages }) => stages.length)).toEqual([4])
    await scenario.lose('pc-2')
    await scenario.clock.advance(30 * second)
    const before = { woken: scenario.clock.woken(), sent: sent.length }
    await scenario.clock.advance(minute)
    const said = sent.slice(before.sent)
    const kinds = new Set(said.map((line) => line.split(' ').at(-1)))
    expect([...kinds].sort()).toEqual(['job-news', 'progress'])
    // A report of each of three, and news to the two that are not the host.
    expect(said.length).toBeLessThanOrEqual(5 * 60)
    // Each message once where it is sent and once where it comes in, and the host's look at a checkpoint that is due.
    expect(scenario.clock.woken() - before.woken).toBeLessThanOrEqual(13 * 60)
    await scenario.comeBack('pc-2', quarter)
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'finished', updates: 60 })
  })
})

describe('training that stands still though nobody is lost', () => {
  it('is stalled, with its cause, for the host and the others, and never a time left', async () => {
    const scenario = await startScenario({
      ...{ ...slow, memories: [third, third, third], spec: smallJob({ updates: 400 }) },
    })
    const view = () => scenario.host.participation.view()
    await scenario.until(({ updates }) => updates >= 40)
    const other = scenario.members.find(({ name }) => name === 'pc-2')!.participation
    expect(view().secondsLeft).not.toBeNull()
    const { clock, network } = scenario
    network.hinder('pc-1', { frozenUntilMs: clock.now() + 40 * second })
    await clock.advance(9 * second)
    expect(view().stalledForSeconds).toBeUndefined()
    await clock.advance(6 * second)
    const { stalledForSeconds, text, secondsLeft, samplesPerSecond } = view()
    expect([stalledForSeconds, secondsLeft, samplesPerSecond]).toEqual([15, null, 0])
    expect(text).toMatch(/^stalled: .*(pc-1|waits)/)
    expect(other.view().text).toBe(text)
    expect(other.view().stalledForSeconds).toBeGreaterThan(12)
    await clock.advance(27 * second)
    for (const shown of [view(), other.view()]) expect(shown).not.toHaveProperty('stalledForSeconds')
    expect(await scenario.end(scenario.host)).toMatchObject({
      ...{ outcome: 'finished', updates: 400, lostSamples: 0 },
    })
  })
})
