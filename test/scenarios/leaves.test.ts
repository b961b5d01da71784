import { describe, expect, it } from 'vitest'
import { peersOf } from '../../main/core/job/plan-in-force.ts'
import { second } from '../../shared/units.ts'
import { type Member, type Scenario, smallJob, startScenario } from './pool.ts'

const slow = { engineMs: [60, 90], flopsPerSecond: 1e6 } as const
/** The host's PC holds the model alone; of the others three are enough. */
const oneAndMore = {
  ...slow,
  memories: [105_000, 36_500, 36_500, 36_500, 36_500],
  spec: smallJob({ updates: 160 }),
}
/** One cluster, and each of its PCs is needed. */
const two = { ...slow, memories: [49_500, 49_500], clusters: 1, spec: smallJob({ updates: 120 }) }

const viewOf = ({ host }: Scenario) => host.participation.view()
const said = (scenario: Scenario) => viewOf(scenario).log.map(({ text }) => text)

async function training(scenario: Scenario): Promise<void> {
  await scenario.until(({ updates, phase }) => phase === 'training' && updates >= 4)
}

/** A member of the cluster that the host is not in. */
function someoneElse(scenario: Scenario): Member {
  const { plan } = viewOf(scenario)
  const other = plan!.layout.clusters.findIndex((_, index) => !peersOf(plan!, index).includes('host'))
  return scenario.members.find(({ name }) => peersOf(plan!, other).includes(name))!
}

/** Every row that a leaf was given is in the model, and none twice in an epoch. */
function expectEachOnce({ taught }: Scenario, { samples }: { readonly samples: number }) {
  for (const rows of taught.values()) expect(new Set(rows).size).toBe(rows.length)
  expect([...taught.values()].reduce((sum, rows) => sum + rows.length, 0)).toBe(samples)
}

const planned = (scenario: Scenario) =>
  viewOf(scenario).plan!.layout.clusters.flatMap((_, cluster) => peersOf(viewOf(scenario).plan!, cluster))

describe('a member that leaves in order', () => {
  it('is let go once its layers are taken over, and nothing is lost', async () => {
    const scenario = await startScenario(oneAndMore)
    await training(scenario)
    const leaver = someoneElse(scenario)
    leaver.participation.leave()
    expect(leaver.participation.view().text).toMatch(/^leaving: the host takes over/)
    expect(await scenario.end(leaver)).toMatchObject({ outcome: 'stopped', reason: 'left on purpose' })
    await scenario.until(({ phase, plan }) => phase === 'training' && plan!.layout.clusters.length === 2)
    expect(planned(scenario)).not.toContain(leaver.name)
    expect(planned(scenario)).toHaveLength(4)
    expect(said(scenario)).toContain(`${leaver.name} left`)
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 160, lostSamples: 0 })
    expectEachOnce(scenario, result)
  })

  it('leaves a pool that cannot do without it where it stands: the next one goes on there', async () => {
    const scenario = await startScenario(two)
    await training(scenario)
    const [leaver] = scenario.members
    leaver!.participation.leave()
    expect((await scenario.end(leaver!)).outcome).toBe('stopped')
    await scenario.until(({ text }) => text.startsWith('waiting for members: '))
    const { updates } = viewOf(scenario)
    expect(updates).toBeGreaterThanOrEqual(4)
    await scenario.join('another', 49_500)
    await scenario.until(({ phase }) => phase === 'training')
    expect(viewOf(scenario).updates).toBeGreaterThanOrEqual(updates)
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 120, lostSamples: 0 })
    // Four micro-batches of 8 an update, and the stop filled its last update only in part.
    expect(120 * 4 * 8 - result.samples).toBeLessThan(4 * 8)
    expectEachOnce(scenario, result)
  })

  it('goes at once when it says so again', async () => {
    const scenario = await startScenario(two)
    await training(scenario)
    const [leaver] = scenario.members
    leaver!.participation.leave()
    leaver!.participation.leave()
    const before = scenario.clock.now()
    await scenario.end(leaver!)
    expect(scenario.clock.now() - before).toBeLessThan(second)
  })

  it('is not waited for when it went at once', async () => {
    const scenario = await startScenario(oneAndMore)
    await training(scenario)
    const leaver = someoneElse(scenario)
    leaver.participation.leave()
    leaver.participation.leave()
    await scenario.until(({ members }) => members.some(({ state }) => state === 'lost'))
    const before = scenario.clock.now()
    await scenario.until(({ phase }) => phase === 'training' && !planned(scenario).includes(leaver.name))
    // One that was lost is given ten.
    expect(scenario.clock.now() - before).toBeLessThan(9 * second)
  })

  it('goes at once when it has no stage', async () => {
    const scenario = await startScenario({ ...two, memories: [49_500, 49_500, 500] })
    await training(scenario)
    const spare = scenario.members.find(({ name }) => !planned(scenario).includes(name))!
    const before = scenario.clock.now()
    spare.participation.leave()
    expect((await scenario.end(spare)).outcome).toBe('stopped')
    expect(scenario.clock.now() - before).toBeLessThan(second)
    await scenario.until(({ members }) => members.some(({ state }) => state === 'lost'))
    expect(viewOf(scenario).phase).toBe('training')
  })

  it('goes without when the host does not take over in time', async () => {
    const scenario = await startScenario({
      ...two,
      drop: (_from, _to, { header }) => header.type === 'leave-request',
    })
    await training(scenario)
    const [leaver] = scenario.members
    leaver!.participation.leave()
    await scenario.clock.advance(59 * second)
    expect(leaver!.participation.view().result).toBeNull()
    await scenario.clock.advance(4 * second)
    expect(leaver!.participation.view().result).toMatchObject({ outcome: 'stopped' })
  })
})

describe('a pause that lasts', () => {
  it('makes the others go on by a plan without it, and ends in a plan with it', async () => {
    const scenario = await startScenario(oneAndMore)
    await training(scenario)
    const pauser = someoneElse(scenario)
    pauser.participation.pause()
    await scenario.until(({ plan }) => plan!.active.length === 1)
    await scenario.until(({ phase, plan }) => phase === 'training' && plan!.active.length === 2)
    expect(planned(scenario)).not.toContain(pauser.name)
    expect(pauser.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    expect(viewOf(scenario).members.find(({ peer }) => peer === pauser.name)).toMatchObject({
      ...{ state: 'paused', reason: 'pauses' },
    })
    pauser.participation.resume()
    await scenario.until(({ phase }) => phase === 'training' && planned(scenario).includes(pauser.name))
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', lostSamples: 0 })
    expectEachOnce(scenario, result)
  })

  it('is taken back without a new plan when it was short', async () => {
    const scenario = await startScenario(oneAndMore)
    await training(scenario)
    const { layout } = viewOf(scenario).plan!
    const pauser = someoneElse(scenario)
    pauser.participation.pause()
    await scenario.until(({ plan }) => plan!.active.length === 1)
    await scenario.clock.advance(15 * second)
    pauser.participation.resume()
    await scenario.until(({ plan }) => plan!.active.length === 2)
    expect(viewOf(scenario).plan!.layout).toBe(layout)
  })

  it('leaves alone a pool that cannot do without the PC', async () => {
    const scenario = await startScenario(two)
    await training(scenario)
    const [pauser] = scenario.members
    pauser!.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    await scenario.clock.advance(60 * second)
    expect(viewOf(scenario)).toMatchObject({ phase: 'paused', text: 'pc-1 pauses' })
    pauser!.participation.resume()
    await scenario.until(({ phase }) => phase === 'training')
  })
})

describe('a pause before the training', () => {
  it('leaves the PC out of the first plan', async () => {
    const scenario = await startScenario({
      ...slow,
      memories: [105_000, 105_000],
      spec: smallJob({ updates: 60 }),
    })
    const [pauser] = scenario.members
    pauser!.participation.pause()
    await training(scenario)
    expect(planned(scenario)).toEqual(['host'])
  })

  it('is waited for by a pool that cannot do without the PC', async () => {
    const scenario = await startScenario(two)
    const [pauser] = scenario.members
    pauser!.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    expect(viewOf(scenario).text).toMatch(/^waiting for members: pc-1 pauses, and /)
    pauser!.participation.resume()
    await training(scenario)
  })

  it('is in force at once when it was asked for while the stage got ready; nobody trains without it', async () => {
    const scenario = await startScenario({ ...two, spec: smallJob({ updates: 10_000 }) })
    const [pauser] = scenario.members
    await scenario.until(({ phase }) => phase === 'preparing')
    pauser!.participation.pause()
    expect(pauser!.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    await scenario.until(({ phase }) => phase === 'paused')
    expect(viewOf(scenario).text).toContain('pc-1 pauses')
    expect(viewOf(scenario).updates).toBe(0)
    await scenario.clock.advance(50)
    expect(pauser!.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
  })
})
