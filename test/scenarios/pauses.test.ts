import { describe, expect, it } from 'vitest'
import { peersOf, ringsInForce } from '../../main/core/job/plan-in-force.ts'
import type { WireHeader } from '../../shared/messages/wire.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

/** One cluster of two PCs, and a run that no test sees the end of by itself. */
const two = { memories: [49_500, 49_500], clusters: 1, spec: smallJob({ updates: 10_000 }) }
const long = {
  memories: [49_500, 49_500, 36_500, 36_500, 36_500],
  clusters: 2,
  spec: smallJob({ updates: 40 }),
}

const hostPhase = ({ host }: Scenario) => host.participation.view().phase

async function training(scenario: Scenario): Promise<void> {
  await scenario.until(({ updates, phase }) => phase === 'training' && updates >= 4)
}

describe('two members of one cluster that pause', () => {
  it('are both waited for: neither ends the other’s pause', async () => {
    const scenario = await startScenario(two)
    const { host } = scenario
    const [friend] = scenario.members
    await training(scenario)
    friend!.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    host.participation.pause()
    await scenario.clock.advance(50)
    friend!.participation.resume()
    await scenario.clock.advance(5_000)
    expect(hostPhase(scenario)).toBe('paused')
    expect(friend!.participation.own()).toMatchObject({ state: 'paused', pausesByUs: false })
    const before = host.participation.view().updates
    host.participation.resume()
    await scenario.until(({ phase, updates }) => phase === 'training' && updates > before)
    expect(friend!.participation.own()).toMatchObject({ state: 'training', pausesByUs: false })
  })

  it('say it again without effect, and an unasked resume ends nobody’s pause', async () => {
    const scenario = await startScenario(two)
    const [friend] = scenario.members
    await training(scenario)
    friend!.participation.pause()
    friend!.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    friend!.participation.pause()
    scenario.host.participation.resume()
    await scenario.clock.advance(5_000)
    expect(hostPhase(scenario)).toBe('paused')
    friend!.participation.resume()
    await scenario.until(({ phase }) => phase === 'training')
    expect(scenario.warnings).toEqual([])
  })

  it('trains on when a pause is taken back before it was in force', async () => {
    const scenario = await startScenario(two)
    const [friend] = scenario.members
    await training(scenario)
    const before = scenario.host.participation.view().updates
    friend!.participation.pause()
    friend!.participation.resume()
    await scenario.until(({ updates }) => updates > before + 4)
    expect(friend!.participation.own()).toMatchObject({ state: 'training', pausesByUs: false })
  })
})

describe('a member that finishes the round before it pauses', () => {
  it('trains on to the average in all its rings, then its cluster is held and the others go on', async () => {
    const sent: { readonly from: string; readonly header: WireHeader }[] = []
    const scenario = await startScenario({
      ...{ ...long, spec: smallJob({ updates: 10_000 }) },
      tap: (from, _to, { header }) => sent.push({ from, header }),
    })
    const plan = () => scenario.host.participation.view().plan!
    await training(scenario)
    const other = plan().layout.clusters.findIndex((_, index) => !peersOf(plan(), index).includes('host'))
    const { name, participation } = scenario.members.find((one) => peersOf(plan(), other).includes(one.name))!
    sent.length = 0
    expect([participation.pauseAfterRound(), participation.pauseAfterRound()]).toEqual([true, true])
    expect(participation.view()).toMatchObject({
      ...{ phase: 'training', text: 'finishing this round, then pausing' },
    })
    const rings = ringsInForce(plan()).flatMap(({ members }, ring) => (members.includes(name) ? [ring] : []))
    await scenario.until(() => participation.own().state === 'paused')
    const own = sent.filter(({ from }) => from === name).map(({ header }) => header)
    const asked = own.findIndex(({ type }) => type === 'pause-request')
    const averaged = own
      .slice(0, asked)
      .flatMap((header) => (header.type === 'chunk' && header.phase === 'gather' ? [header.ring] : []))
    expect(averaged.sort()).toEqual(rings)
    expect(participation.own().pausesByUs).toBe(true)
    expect(plan().active).toEqual([1 - other])
    const before = scenario.host.participation.view().updates
    await scenario.until(({ updates, phase }) => phase === 'training' && updates > before + 8)
    participation.resume()
    await scenario.until(() => plan().active.length === 2)
    expect(scenario.warnings).toEqual([])
  })

  it('pauses where a round would be, when its cluster is the only one', async () => {
    const scenario = await startScenario(two)
    const [friend] = scenario.members
    await training(scenario)
    expect(friend!.participation.pauseAfterRound()).toBe(true)
    const { updates } = scenario.host.participation.view()
    await scenario.until(() => friend!.participation.own().state === 'paused')
    await scenario.clock.advance(50)
    const held = friend!.savedStages.at(-1)!.updates
    // Every fourth update; what was in flight then may make one more.
    const roundEnds = 4 * (Math.floor(updates / 4) + 1)
    expect([roundEnds, roundEnds + 1]).toContain(held)
    friend!.participation.resume()
    await scenario.until(({ phase }) => phase === 'training')
  })

  it('trains on when that is taken back, and pauses at once when told so', async () => {
    const scenario = await startScenario(two)
    const [friend] = scenario.members
    await training(scenario)
    friend!.participation.pauseAfterRound()
    friend!.participation.resume()
    const before = scenario.host.participation.view().updates
    await scenario.until(({ updates }) => updates > before + 8)
    expect(friend!.participation.own()).toMatchObject({ state: 'training', pausesByUs: false })
    friend!.participation.pauseAfterRound()
    friend!.participation.pause()
    expect(friend!.participation.own()).toMatchObject({ state: 'draining', pausesByUs: true })
    await scenario.until(({ phase }) => phase === 'paused')
    expect(friend!.participation.pauseAfterRound()).toBe(false)
  })

  it('is paused with the rest of its cluster when that is held before, and asks then for itself', async () => {
    const scenario = await startScenario(two)
    const { host } = scenario
    const [friend] = scenario.members
    await training(scenario)
    expect(host.participation.pauseAfterRound()).toBe(true)
    expect(host.participation.view()).toMatchObject({
      ...{ phase: 'training', text: 'finishing this round, then pausing' },
    })
    friend!.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    await scenario.clock.advance(50)
    friend!.participation.resume()
    await scenario.clock.advance(5_000)
    expect(hostPhase(scenario)).toBe('paused')
    expect(host.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    host.participation.resume()
    await scenario.until(({ phase }) => phase === 'training')
  })
})

describe('a host', () => {
  it('ends a paused run early and keeps its model', async () => {
    const scenario = await startScenario(two)
    await training(scenario)
    scenario.host.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    scenario.host.participation.finish()
    expect(await scenario.end(scenario.host)).toMatchObject({
      outcome: 'stopped',
      model: '/models/scenario',
    })
  })

  it('sends a member away: its cluster stops, it hears why, and it may not come back', async () => {
    const scenario = await startScenario(long)
    await training(scenario)
    const plan = scenario.host.participation.view().plan!
    const other = plan.layout.clusters.findIndex((_, index) => !peersOf(plan, index).includes('host'))
    const gone = scenario.members.find(({ name }) => peersOf(plan, other).includes(name))!
    expect(scenario.host.participation.removeMember('nobody')).toBe(false)
    expect(scenario.host.participation.removeMember('host')).toBe(false)
    expect(scenario.host.participation.removeMember(gone.name)).toBe(true)
    expect(await scenario.end(gone)).toMatchObject({
      outcome: 'stopped',
      reason: 'the host removed this PC from the job',
    })
    await expect(scenario.join(gone.name, 36_500)).rejects.toThrow('the host removed this PC from the job')
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'finished', updates: 40 })
  })
})

describe('a pause whose cluster cannot empty itself soon', () => {
  const slowly = { ...two, engineMs: [60, 90], flopsPerSecond: 1e6 } as const
  const soon = 2_000

  it('is in force within two seconds where another PC of the cluster has fallen silent', async () => {
    const scenario = await startScenario(slowly)
    const [friend] = scenario.members
    await training(scenario)
    scenario.network.hinder('host', { frozenUntilMs: scenario.clock.now() + 3 * soon })
    await scenario.clock.advance(500)
    friend!.participation.pause()
    await scenario.clock.advance(soon)
    expect(friend!.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    const { samples } = friend!.participation.own()
    await scenario.clock.advance(4 * soon)
    expect(hostPhase(scenario)).toBe('paused')
    expect(friend!.participation.own()).toMatchObject({ state: 'paused', samples })
    friend!.participation.resume()
    await scenario.clock.advance(soon)
    expect(friend!.participation.own().samples).toBeGreaterThan(samples)
  })

  it('loses nothing: what waited in the stage is trained when its PC is back', async () => {
    const scenario = await startScenario({ ...slowly, spec: smallJob({ updates: 40 }) })
    const [friend] = scenario.members
    await training(scenario)
    scenario.network.hinder('host', { frozenUntilMs: scenario.clock.now() + 2 * soon })
    friend!.participation.pause()
    await scenario.clock.advance(3 * soon)
    expect(friend!.participation.own().state).toBe('paused')
    friend!.participation.resume()
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 40, lostSamples: 0, doubledSamples: 0 })
    const rows = [...scenario.taught.values()].flat()
    expect(rows).toHaveLength(result.samples)
    for (const of of scenario.taught.values()) expect(new Set(of).size).toBe(of.length)
  })

  it('is in force without a host, and over when its owner says so', async () => {
    const scenario = await startScenario({ ...long, spec: smallJob({ updates: 10_000 }) })
    await training(scenario)
    const plan = scenario.host.participation.view().plan!
    const other = plan.layout.clusters.findIndex((_, index) => !peersOf(plan, index).includes('host'))
    const { participation } = scenario.members.find(({ name }) => peersOf(plan, other).includes(name))!
    await scenario.lose('host')
    participation.pause()
    await scenario.clock.advance(soon)
    expect(participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    await scenario.clock.advance(soon) // the report of what was trained before comes
    const { samples } = participation.own()
    await scenario.clock.advance(3 * soon)
    expect(participation.own().samples).toBe(samples)
    participation.resume()
    await scenario.clock.advance(soon)
    expect(participation.own()).toMatchObject({ state: 'training', pausesByUs: false })
    expect(participation.own().samples).toBeGreaterThan(samples)
  })

  it('is known to a host that comes back meanwhile, and the others go on without that cluster', async () => {
    const scenario = await startScenario({ ...long, spec: smallJob({ updates: 10_000 }) })
    await training(scenario)
    const plan = scenario.host.participation.view().plan!
    const other = plan.layout.clusters.findIndex((_, index) => !peersOf(plan, index).includes('host'))
    const { name, participation } = scenario.members.find((one) => peersOf(plan, other).includes(one.name))!
    await scenario.lose('host')
    participation.pause()
    await scenario.clock.advance(soon)
    scenario.hostAgain()
    await scenario.clock.advance(3 * soon)
    const stateOf = (peer: string) =>
      scenario.host.participation.view().members.find((one) => one.displayName === peer)?.state
    expect(stateOf(name)).toBe('paused')
    participation.resume()
    await scenario.until(() => participation.own().state === 'training')
    expect(participation.own().pausesByUs).toBe(false)
  })
})

describe('a pause that is asked for before the stage begins', () => {
  it('is in force at once, the others go on without, and the PC is planned in again when it is back', async () => {
    const scenario = await startScenario({
      ...{ memories: [90_000, 90_000, 90_000], clusters: 1, spec: smallJob({ updates: 10_000 }) },
      uploadBytesPerSecond: 4_000,
    })
    const [friend] = scenario.members
    await scenario.until(({ phase }) => phase === 'preparing')
    await scenario.clock.advance(100)
    expect(friend!.participation.own().state).toBe('preparing')
    friend!.participation.pause()
    expect(friend!.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    await scenario.until(({ phase, updates }) => phase === 'training' && updates > 0)
    const { plan } = scenario.host.participation.view()
    expect(peersOf(plan!, 0)).not.toContain(friend!.name)
    expect(friend!.participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    friend!.participation.resume()
    await scenario.until(({ members }) => members.every(({ state }) => state !== 'paused'))
    expect(friend!.participation.own().pausesByUs).toBe(false)
  })

  it('waits for it where the others cannot hold the model, and begins when it is back', async () => {
    const scenario = await startScenario({ ...two, uploadBytesPerSecond: 4_000 })
    const [friend] = scenario.members
    await scenario.until(({ phase }) => phase === 'preparing')
    await scenario.clock.advance(100)
    friend!.participation.pause()
    await scenario.until(({ phase }) => phase === 'paused')
    expect(scenario.host.participation.view().text).toContain('pc-1 pauses')
    friend!.participation.resume()
    await scenario.until(({ phase, updates }) => phase === 'training' && updates > 0)
    expect(friend!.participation.own()).toMatchObject({ state: 'training', pausesByUs: false })
  })
})
