import { describe, expect, it } from 'vitest'
import { peersOf } from '../../main/core/job/plan-in-force.ts'
import { smallJob, startScenario } from './pool.ts'

const twoAndThree = [49_500, 49_500, 36_500, 36_500, 36_500]
const long = { memories: twoAndThree, clusters: 2, spec: smallJob({ updates: 40 }) }

describe('a pool that loses a PC', () => {
  it.each([0, 1, 2])('finishes with the other cluster when stage %i of three is gone', async (stage) => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 10)
    const plan = scenario.host.participation.view().plan!
    const three = plan.layout.clusters.findIndex(({ stages }) => stages.length === 3)
    const victim = peersOf(plan, three)[stage]!
    await scenario.lose(victim)
    const result = await scenario.end(scenario.host)
    const { members } = scenario.host.participation.view()
    expect(result).toMatchObject({ outcome: 'finished', model: '/models/scenario', updates: 40 })
    expect(result.reason).toContain(victim)
    expect(members.find(({ peer }) => peer === victim)).toMatchObject({
      state: 'lost',
      reason: 'connection lost',
    })
    const idle = members.filter(({ peer }) => peersOf(plan, three).includes(peer) && peer !== victim)
    expect(idle.map(({ state, reason }) => [state, reason])).toEqual(
      idle.map(() => ['idle', `its cluster lost ${victim}`]),
    )
  })

  it('plans anew when the PC is gone before the training began', async () => {
    const scenario = await startScenario({
      ...long,
      memories: [130_000, 130_000, 130_000],
      clusters: undefined!,
    })
    await scenario.until(({ phase }) => phase === 'preparing')
    await scenario.lose('pc-2')
    const result = await scenario.end(scenario.host)
    expect(result.outcome).toBe('finished')
    expect(scenario.host.participation.view().plan!.number).toBeGreaterThan(1)
  })

  it('loses its host: members stop cleanly, save what they trained, and say so', async () => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 10)
    await scenario.lose('host')
    for (const member of scenario.members) {
      const result = await scenario.end(member)
      expect(result.outcome).toBe('failed')
      expect(result.reason).toMatch(/the host is gone .*; what this PC trained is saved/)
      expect(member.savedStages.at(-1)!.updates).toBeGreaterThanOrEqual(9)
    }
  })

  it('loses its host: a member claims to have saved only what it has', async () => {
    const early = await startScenario(long)
    await early.until(({ phase }) => phase === 'preparing')
    await early.lose('host')
    const reasons = await Promise.all(early.members.map(async (member) => (await early.end(member)).reason))
    expect(new Set(reasons)).toEqual(new Set(['the host is gone (connection lost)']))

    // The last stage is ready, and nobody was told to start.
    let areReady = 0
    const ready = await startScenario({
      ...long,
      tap: (_from, to, { header }) => {
        if (to !== 'host' || header.type !== 'stage-ready') return
        areReady += 1
        if (areReady === ready.members.length) void ready.network.sever('host')
      },
    })
    for (const member of ready.members) {
      expect((await ready.end(member)).reason).toMatch(/^the host is gone \([^)]*\)$/)
      expect(member.savedStages).toEqual([])
    }

    const full = await startScenario({ ...long, fullDisks: ['pc-1'] })
    await full.until(({ updates }) => updates >= 4)
    await full.lose('host')
    expect((await full.end(full.members[0]!)).reason).toBe(
      'the host is gone (connection lost); what this PC trained could not be saved: the disk is full',
    )
  })

  it('is left by a member on purpose, whose reason the host tells', async () => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 10)
    const leaver = scenario.members.at(-1)!
    // At once: not even what its layers have learned is taken over.
    leaver.participation.leave()
    leaver.participation.leave()
    expect((await scenario.end(leaver)).outcome).toBe('stopped')
    expect((await scenario.end(scenario.host)).outcome).toBe('finished')
    const view = scenario.host.participation.view().members.find(({ peer }) => peer === leaver.name)
    expect(view).toMatchObject({ state: 'lost', reason: 'left on purpose' })
  })
})

describe('a member that pauses', () => {
  it('drains its cluster, lets the others go on, and comes back', async () => {
    const scenario = await startScenario(long)
    await scenario.until(({ updates }) => updates >= 6)
    const plan = scenario.host.participation.view().plan!
    const three = plan.layout.clusters.findIndex(({ stages }) => stages.length === 3)
    const pauser = scenario.members.find(({ name }) => peersOf(plan, three)[1] === name)!
    pauser.participation.pause()
    expect(pauser.participation.view().phase).toBe('draining')
    await scenario.until(({ plan: now }) => now!.active.length === 1)
    await scenario.until(({ updates }) => updates >= 20)
    await scenario.until(() => pauser.participation.view().phase === 'paused')
    await scenario.until(() => pauser.savedStages.length === 1)
    pauser.participation.resume()
    await scenario.until(({ plan: now }) => now!.active.length === 2)
    const result = await scenario.end(scenario.host)
    expect(result).toMatchObject({ outcome: 'finished', updates: 40 })
    const trained = scenario.host.participation.view().members.map(({ updates }) => updates)
    expect(trained).toEqual(trained.map(() => 40))
  })
})
