import { describe, expect, it } from 'vitest'
import { peersOf } from '../../main/core/job/plan-in-force.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

const twoAndThree = [49_500, 49_500, 36_500, 36_500, 36_500]
const long = {
  memories: twoAndThree,
  clusters: 2,
  spec: smallJob({ updates: 40 }),
  engineMs: [60, 90],
} as const
const two = { ...long, memories: [49_500, 49_500], clusters: 1 }

const viewOf = ({ host }: Scenario) => host.participation.view()
const said = (scenario: Scenario) => viewOf(scenario).log.map(({ text }) => text)

async function endWhole(scenario: Scenario, updates = 40) {
  const result = await scenario.end(scenario.host)
  expect(result).toMatchObject({ outcome: 'finished', model: '/models/scenario', updates })
  // Each cluster's leaf tells of its own updates, and one that ends a moment later may have made one less.
  expect(Math.max(...viewOf(scenario).trainingCurve.map((point) => point.updates))).toBe(updates)
  expect(scenario.savedModels).toHaveLength(1)
  return result
}

describe('a pool with one cluster', () => {
  it('waits for the PC it cannot do without, and goes on from the weights it kept', async () => {
    const scenario = await startScenario(two)
    await scenario.until(({ updates }) => updates >= 20)
    await scenario.lose('pc-1')
    await scenario.until(({ phase }) => phase === 'paused')
    expect(viewOf(scenario).text).toBe('waiting for pc-1 to come back')
    await scenario.until(({ text }) => text.startsWith('waiting for members: '))
    const friend = await scenario.comeBack('pc-1', 49_500)
    await scenario.until(({ phase }) => phase === 'training')
    const from = viewOf(scenario).updates
    expect(from).toBeGreaterThan(0)
    expect(from).toBeLessThanOrEqual(20)
    const lost = said(scenario).find((text) => text.startsWith('the training goes back'))
    expect(lost).toMatch(new RegExp(`^the training goes back to update ${from}, .*; \\d+ samples are lost$`))
    expect(friend.participation.view().updates).toBeGreaterThanOrEqual(from)
    const result = await endWhole(scenario)
    // Two micro-batches of 8 for each stage and update: what is in the model, not what was done twice.
    expect(result.samples).toBe(40 * 4 * 8)
    expect((await scenario.end(friend)).outcome).toBe('finished')
  })

  it('ends with the weights it kept when the host will not wait', async () => {
    const scenario = await startScenario(two)
    await scenario.until(({ updates }) => updates >= 20)
    await scenario.lose('pc-1')
    await scenario.until(({ phase }) => phase === 'paused')
    scenario.host.participation.finish()
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'stopped', model: '/models/scenario' })
  })

  it('begins anew from the first weights when it had kept none', async () => {
    const scenario = await startScenario({ ...two, engineMs: [20, 40] })
    await scenario.until(({ updates }) => updates >= 4)
    await scenario.lose('pc-1')
    await scenario.comeBack('pc-1', 49_500)
    await endWhole(scenario)
    expect(said(scenario).join()).toMatch(
      /the training goes back to update 0, the newest that was kept; \d+ samples/,
    )
  })

  it('makes room for a newcomer that is worth a stop, and loses nothing by it', async () => {
    const scenario = await startScenario({
      ...two,
      ...{ memories: [105_000], clusters: undefined! },
      spec: smallJob({ updates: 300 }),
      flopsPerSecond: 1e6,
    })
    await scenario.until(({ updates }) => updates >= 10)
    const late = await scenario.join('late', 105_000)
    const trains = (plan: Plan, peer: string) =>
      plan.active.some((cluster) => peersOf(plan, cluster).includes(peer))
    await scenario.until(({ plan, phase }) => phase === 'training' && trains(plan!, 'late'))
    expect(said(scenario)).toContain('a new plan: late joined')
    // A half of the layers goes to the newcomer: a copy of all would hardly be faster.
    expect(viewOf(scenario).plan!.layout.clusters.map(({ stages }) => stages.length)).toEqual([2])
    expect(said(scenario).some((text) => text.includes('samples are lost'))).toBe(false)
    await endWhole(scenario, 300)
    expect((await scenario.end(late)).outcome).toBe('finished')
    const members = viewOf(scenario).members
    expect(members.map(({ updates }) => updates)).toEqual([300, 300])
  })
})

describe('a pool with two clusters', () => {
  it('takes a member back that was lost: everyone trains again, from the newest weights', async () => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 10)
    const plan = viewOf(scenario).plan!
    const three = plan.layout.clusters.findIndex(({ stages }) => stages.length === 3)
    const victim = peersOf(plan, three).find((peer) => peer !== 'host')!
    await scenario.lose(victim)
    await scenario.until(({ plan: now }) => now!.active.length === 1)
    await scenario.comeBack(victim, 36_500)
    await scenario.until(({ plan: now, phase }) => phase === 'training' && now!.active.length === 2)
    const { lostSamples = 0, samples } = await endWhole(scenario)
    expect(viewOf(scenario).members.map(({ state }) => state)).toEqual(twoAndThree.map(() => 'finished'))
    // What the lost cluster trained since its last round: less than two rounds of 4 updates, 6 micro-batches of 8 each.
    expect(lostSamples).toBeLessThan(2 * 4 * 6 * 8)
    expect(said(scenario).some((text) => text.includes('samples are lost'))).toBe(lostSamples > 0)
    // Both clusters' updates are in the model, whole ones but for what a stop cut short.
    expect(samples % 8).toBe(0)
  })

  it('goes on with a new plan for those who are left when the lost one stays away', async () => {
    const memories = [105_000, 105_000, 52_500, 52_500]
    const scenario = await startScenario({ ...long, memories, clusters: 3, spec: smallJob({ updates: 80 }) })
    await scenario.until(({ updates }) => updates >= 4)
    const plan = viewOf(scenario).plan!
    const pair = plan.layout.clusters.findIndex(({ stages }) => stages.length === 2)
    const victim = peersOf(plan, pair).find((peer) => peer !== 'host')!
    await scenario.lose(victim)
    await scenario.until(({ plan: now }) => now!.active.length === 2)
    await endWhole(scenario, 80)
    expect(viewOf(scenario).members.find(({ peer }) => peer === victim)!.state).toBe('lost')
  })

  it('writes each checkpoint down once, whatever else it writes', async () => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 10)
    const victim = scenario.members.at(-1)!.name
    await scenario.lose(victim)
    await scenario.comeBack(victim, 36_500)
    await endWhole(scenario)
    const written = scenario.savedRuns.map(({ checkpoint }) => checkpoint?.updates)
    const saves = written.filter((updates) => updates !== undefined)
    expect(saves.length).toBeGreaterThan(0)
    expect(new Set(saves).size).toBe(saves.length)
    // Two plans were begun, and each start is written, too.
    expect(written.filter((updates) => updates === undefined)).toHaveLength(2)
  })

  it('lets a newcomer stand by that would not make it faster', async () => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 10)
    const before = viewOf(scenario).plan!
    const late = await scenario.join('late', 4_000)
    await scenario.until(({ members }) => members.at(-1)!.state === 'idle')
    expect(viewOf(scenario).members.at(-1)!.reason).toMatch(/^stands by: /)
    expect(viewOf(scenario).plan).toEqual(before)
    await endWhole(scenario)
    expect((await scenario.end(late)).outcome).toBe('finished')
  })
})

describe('a host that is started anew', () => {
  it('goes on with its run when its members are back: updates, samples, curves and what each PC gave', async () => {
    const before = await startScenario(long)
    await before.until(({ updates }) => updates >= 20)
    const run = before.savedRuns.findLast(({ checkpoint }) => checkpoint !== undefined)!
    const from = run.checkpoint!.updates
    expect(from).toBeGreaterThan(0)

    const after = await startScenario({ ...long, resume: run })
    await after.until(({ phase }) => phase === 'training')
    const view = viewOf(after)
    expect(said(after)).toContain(`the run goes on from update ${from}`)
    expect(view.updates).toBe(from)
    expect(view.samples).toBe(run.book.trained.at(-1)!.samples)
    expect(view.plan!.number).toBeGreaterThan(run.book.planNumber)
    const curve = run.book.trainingCurve.filter(({ updates }) => updates <= from)
    expect(view.trainingCurve.slice(0, curve.length)).toEqual(curve)
    const gave = new Map(
      run.book.members.map(({ peer, did, doing }) => [peer, did.samples + (doing?.samples ?? 0)]),
    )
    for (const { peer, samples } of view.members) if (peer !== 'host') expect(samples).toBe(gave.get(peer))
    await endWhole(after)
  })

  it('writes the run down when its program is to end, and tells its members no end', async () => {
    const scenario = await startScenario(two)
    await scenario.until(({ updates }) => updates >= 8)
    await scenario.clock.runUntil(scenario.host.participation.suspend())
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'stopped', code: 'suspended' })
    expect(scenario.savedRuns.at(-1)!.checkpoint!.updates).toBeGreaterThanOrEqual(7)
    expect(scenario.members[0]!.participation.view().phase).not.toBe('ended')
    await scenario.lose('host')
    expect(await scenario.end(scenario.members[0]!)).toMatchObject({ code: 'host-lost' })
  })
})
