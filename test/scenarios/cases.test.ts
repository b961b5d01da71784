/** Cases that other pools stumbled over, each held for ever. */
import { describe, expect, it } from 'vitest'
import type { WireMessage } from '../../shared/messages/wire.ts'
import { minute, second } from '../../shared/units.ts'
import { ringsInForce } from '../../main/core/job/plan-in-force.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

const whole = 105_000
const half = 52_500
const slow = { flopsPerSecond: 1e6, engineMs: [10, 30] as const }

async function finished(scenario: Scenario, updates: number): Promise<void> {
  expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'finished', updates })
  expect(scenario.savedModels).toHaveLength(1)
}

describe('one peer alone', () => {
  it('steps on its own gradient: it averages with nobody, and its model is what it trained', async () => {
    const sent: WireMessage[] = []
    const scenario = await startScenario({
      ...slow,
      memories: [whole],
      spec: smallJob({ updates: 60 }),
      tap: (from, to, message) => { if (from !== to) sent.push(message) }, // prettier-ignore
    })
    await scenario.until(({ phase }) => phase === 'training')
    const { plan } = scenario.host.participation.view()
    expect(ringsInForce(plan!).map(({ members }) => members)).toEqual([['host']])
    await finished(scenario, 60)
    const { result, trainingCurve } = scenario.host.participation.view()
    const taught = [...scenario.taught.values()].reduce((sum, rows) => sum + rows.length, 0)
    expect(result).toMatchObject({ lostSamples: 0, samples: taught })
    expect(trainingCurve.at(-1)!.loss).toBeLessThan(0.8 * trainingCurve[0]!.loss)
    expect(sent).toEqual([])
  })
})

describe('four peers', () => {
  it.each([1, 2, 3])('that start in the same second form one pool (seed %i)', async (seed) => {
    const scenario = await startScenario({
      ...slow,
      seed,
      memories: [half],
      awaits: 4,
      spec: smallJob({ updates: 8 }),
    })
    const names = ['attic', 'cellar', 'kitchen']
    const members = await Promise.all(names.map((name) => scenario.join(name, half)))
    await scenario.until(({ phase }) => phase === 'training')
    const peers = scenario.host.participation
      .view()
      .plan!.layout.clusters.flatMap(({ stages }) => stages.map(({ peer }) => peer))
    expect(peers.sort()).toEqual(['attic', 'cellar', 'host', 'kitchen'])
    await finished(scenario, 8)
    for (const member of members) expect((await scenario.end(member)).outcome).toBe('finished')
  })

  it.each([0, 5])(
    'do not wait for each other when everything happens at equal moments (%i ms)',
    async (ms) => {
      const scenario = await startScenario({
        ...{ memories: [half, half, half, half], spec: smallJob({ updates: 16 }), flopsPerSecond: 1e6 },
        ...{ delayMs: [ms, ms], engineMs: [5, 5] },
      })
      await finished(scenario, 16)
    },
  )
})

describe('a donor', () => {
  it.each(['leaves', 'is lost'])('that %s while it hands its layers over stops nobody', async (how) => {
    const struck = Promise.withResolvers<string>()
    let awaited = false
    /** By the version of the numbers: how far the model was with them. */
    const stops = new Map<number, Set<number>>()
    const scenario = await startScenario({
      ...{ ...slow, memories: [half, half, half], spec: smallJob({ updates: 150 }) },
      tap: (from, to, { header }) => {
        if (header.type === 'assignment')
          stops.set(header.state.of, new Set(stops.get(header.state.of)).add(header.from.samples))
        if (awaited && header.type === 'state-piece' && from !== to && from !== 'host') struck.resolve(from)
      },
    })
    await scenario.until(({ updates }) => updates >= 4)
    // The newcomer is what the weights are handed over for.
    await scenario.join('late', half)
    awaited = true
    const donor = await scenario.clock.runUntil(struck.promise)
    const member = scenario.members.find(({ name }) => name === donor)
    if (how === 'leaves') member!.participation.leave()
    else {
      await scenario.lose(donor)
      await scenario.clock.advance(5 * second)
      await scenario.comeBack(donor, half)
    }
    await finished(scenario, 150)
    expect(scenario.clock.now()).toBeLessThan(5 * minute)
    expect(stops.size).toBeGreaterThan(1)
    for (const models of stops.values()) expect(models.size).toBe(1)
  })
})

describe('a run that nobody holds in memory', () => {
  it('goes on at once from the host’s disk, on another number of peers', async () => {
    const settings = { ...slow, memories: [half, half, half, half], spec: smallJob({ updates: 150 }) }
    const before = await startScenario(settings)
    await before.until(({ updates }) => updates >= 90)
    const run = before.savedRuns.findLast(({ checkpoint }) => checkpoint !== undefined)!
    const after = await startScenario({ ...settings, memories: [half, half], resume: run })
    await after.until(({ phase }) => phase === 'training')
    expect(after.host.participation.view().updates).toBe(run.checkpoint!.updates)
    // It waits five seconds for those who do not come, and for nobody's copy of the model.
    expect(after.clock.now()).toBeLessThan(20 * second)
    await finished(after, 150)
  })
})
