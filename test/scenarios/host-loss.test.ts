import { describe, expect, it } from 'vitest'
import { peersOf } from '../../main/core/job/plan-in-force.ts'
import type { JobResult } from '../../shared/messages/control.ts'
import { second } from '../../shared/units.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

const twoAndThree = [49_500, 49_500, 36_500, 36_500, 36_500]
const slow = { engineMs: [60, 90], flopsPerSecond: 1e6 } as const
const long = { ...slow, memories: twoAndThree, clusters: 2, spec: smallJob({ updates: 60 }) }

const viewOf = ({ host }: Scenario) => host.participation.view()
const said = (scenario: Scenario) => viewOf(scenario).log.map(({ text }) => text)
const samplesOf = ({ members }: Scenario) =>
  members.reduce((sum, { participation }) => sum + participation.own().samples, 0)

/** The cluster that the host is not in. */
function others(scenario: Scenario) {
  const plan = viewOf(scenario).plan!
  const cluster = plan.layout.clusters.findIndex((_, index) => !peersOf(plan, index).includes('host'))
  const names = peersOf(plan, cluster)
  return scenario.members.filter(({ name }) => names.includes(name))
}

async function training(scenario: Scenario): Promise<void> {
  await scenario.until(({ updates, phase }) => phase === 'training' && updates >= 10)
}

/** Every row that a leaf was given is in the model or told as lost. */
function expectAccounted({ taught }: Scenario, { samples, lostSamples = 0 }: JobResult) {
  const given = [...taught.values()].reduce((sum, rows) => sum + rows.length, 0)
  // What was in flight when a program ended was given and never came back: at most what the credits allow.
  expect(given - samples - lostSamples).toBeGreaterThanOrEqual(0)
  expect(given - samples - lostSamples).toBeLessThanOrEqual(2 * 4 * 6 * 8)
}

describe('a pool whose host is gone', () => {
  it('trains on in the clusters that are whole, and says why the others wait', async () => {
    const scenario = await startScenario(long)
    await training(scenario)
    const whole = others(scenario)
    await scenario.lose('host')
    const before = samplesOf(scenario)
    await scenario.clock.advance(20 * second)
    expect(samplesOf(scenario) - before).toBeGreaterThan(1000)
    for (const { participation } of scenario.members) {
      const trains = whole.some((member) => member.participation === participation)
      expect(participation.own().state).toBe(trains ? 'training' : 'paused')
      expect(participation.view().text).toMatch(trains ? /^training/ : /^waiting: host cannot be reached/)
    }
  })

  it('is taken up without a stop by a host that comes back, with all that was trained meanwhile', async () => {
    const scenario = await startScenario(long)
    await training(scenario)
    const { layout } = viewOf(scenario).plan!
    const whole = others(scenario)
    await scenario.lose('host')
    await scenario.clock.advance(8 * second)
    const before = whole.map(({ participation }) => participation.own().samples)
    scenario.hostAgain()
    await scenario.until(({ plan }) => plan?.active.length === 1)
    // They train under the stages that they had, and never stood still.
    expect(viewOf(scenario).plan!.layout).toEqual(layout)
    whole.forEach(({ participation }, index) => {
      expect(participation.own().state).toBe('training')
      expect(participation.own().samples).toBeGreaterThan(before[index]!)
    })
    await scenario.until(({ plan, phase }) => phase === 'training' && plan!.active.length === 2)
    expect(said(scenario).filter((text) => text.startsWith('the training goes back'))).toEqual([])
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 60 })
    expectAccounted(scenario, result)
    for (const member of scenario.members) expect((await scenario.end(member)).outcome).toBe('finished')
  })

  it('goes on from the newest checkpoint where no cluster was left whole', async () => {
    const scenario = await startScenario({ ...long, memories: [49_500, 49_500], clusters: 1 })
    await scenario.until(() => scenario.savedRuns.some(({ checkpoint }) => checkpoint !== undefined))
    await scenario.lose('host')
    await scenario.clock.advance(5 * second)
    scenario.hostAgain()
    const began = scenario.clock.now()
    await scenario.until(({ phase, samples }) => phase === 'training' && samples > 0)
    expect(scenario.clock.now() - began).toBeLessThan(6 * second)
    expect(said(scenario).some((text) => text.startsWith('the training goes back to update'))).toBe(true)
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 60 })
    expectAccounted(scenario, result)
  })

  it('is not measured again: a host that comes back plans with what it knew', async () => {
    const asked: string[] = []
    const scenario = await startScenario({
      ...long,
      tap: (_from, to, { header }) => {
        if (header.type === 'measure-links') asked.push(to)
      },
    })
    await training(scenario)
    asked.length = 0
    await scenario.lose('host')
    await scenario.clock.advance(3 * second)
    scenario.hostAgain()
    await scenario.until(({ plan, phase }) => phase === 'training' && plan?.active.length === 2)
    expect(asked).toEqual([])
  })

  it('loses one more: its deputy takes that cluster out, and the third goes on', async () => {
    const scenario = await startScenario({
      ...long,
      memories: [105_000, 105_000, 105_000, 105_000],
      clusters: 4,
      spec: smallJob({ updates: 600 }),
    })
    await training(scenario)
    await scenario.lose('host')
    await scenario.clock.advance(3 * second)
    await scenario.lose('pc-1')
    await scenario.clock.advance(second)
    const left = scenario.members.filter(({ name }) => name !== 'pc-1')
    const plans = left.map(({ participation }) => participation.view().plan!)
    expect(plans[0]!.active).toHaveLength(2)
    expect(plans[1]).toEqual(plans[0])
    const before = left.map(({ participation }) => participation.own().samples)
    await scenario.clock.advance(20 * second)
    left.forEach(({ participation }, index) => {
      expect(participation.own().samples).toBeGreaterThan(before[index]! + 100)
    })
    scenario.hostAgain()
    await scenario.until(({ plan, phase }) => phase === 'training' && plan!.active.length >= 3)
    expect((await scenario.end(scenario.host)).outcome).toBe('finished')
  })

  it('is waited for, then given up: what a PC trained is kept on its disk', async () => {
    const scenario = await startScenario(long)
    await training(scenario)
    const whole = others(scenario)
    await scenario.lose('host')
    const began = scenario.clock.now()
    for (const member of scenario.members) {
      const result = await scenario.end(member)
      expect(result).toMatchObject({ outcome: 'failed', code: 'host-lost' })
      expect(result.reason).toMatch(/^the host is gone .*; what this PC trained is saved$/)
      const isWhole = whole.includes(member)
      expect(member.savedStages.at(-1)!.updates).toBeGreaterThanOrEqual(isWhole ? 60 : 9)
    }
    expect(scenario.clock.now() - began).toBeGreaterThan(30 * second)
  })
})

describe('a host that nobody could reach for a while', () => {
  it('finds its members training and goes on with them', async () => {
    const scenario = await startScenario(long)
    await training(scenario)
    const whole = others(scenario)
    const names = scenario.members.map(({ name }) => name)
    for (const name of names) await scenario.clock.runUntil(scenario.network.part('host', name))
    await scenario.clock.advance(5 * second)
    const before = whole.map(({ participation }) => participation.own().samples)
    expect(viewOf(scenario).plan!.active).toEqual([])
    await scenario.clock.advance(5 * second)
    scenario.network.mend()
    await scenario.until(({ plan }) => plan!.active.length > 0)
    whole.forEach(({ participation }, index) => {
      expect(participation.own().samples).toBeGreaterThan(before[index]!)
    })
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 60 })
    expectAccounted(scenario, result)
  })
})
