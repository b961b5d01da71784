import { describe, expect, it } from 'vitest'
import { peersOf } from '../../main/core/job/plan-in-force.ts'
import { second } from '../../shared/units.ts'
import { smallJob, startScenario } from './pool.ts'

const spec = smallJob({ updates: 400 })

describe('the checkpoints of a host', () => {
  it('go on at once, from another cluster, after one that a silent stage never answered', async () => {
    let silent = ''
    const scenario = await startScenario({
      spec,
      memories: [49_500, 49_500, 49_500, 49_500],
      clusters: 2,
      engineMs: [60, 90],
      drop: (from, _to, { header }) => from === silent && header.type === 'parameters',
    })
    const view = () => scenario.host.participation.view()
    await scenario.until(({ updates }) => updates >= 4)
    const first = view().plan!.active[0]!
    silent = peersOf(view().plan!, first).find((peer) => peer !== 'host')!
    const asked = scenario.clock.now()
    // One checkpoint has begun, and waits for the stage.
    await scenario.until(() => scenario.clock.now() >= asked + 19 * second)
    expect(scenario.savedRuns.filter(({ checkpoint }) => checkpoint !== undefined)).toEqual([])
    await scenario.lose(silent)
    const lost = scenario.clock.now()
    await scenario.until(() => scenario.savedRuns.some(({ checkpoint }) => checkpoint !== undefined))
    expect(scenario.clock.now() - lost).toBeLessThan(3 * second)
  })
})

describe('what one cluster learns alone', () => {
  it('is kept every four seconds, for nobody else has it; what two learn, every ten', async () => {
    const keptIn25Seconds = async (clusters: number) => {
      const memories = Array.from({ length: 2 * clusters }, () => 49_500)
      const long = smallJob({ updates: 4000 })
      const scenario = await startScenario({ spec: long, memories, clusters, engineMs: [10, 20] })
      await scenario.until(({ updates }) => updates >= 4)
      await scenario.clock.advance(25 * second)
      return scenario.savedRuns.filter(({ checkpoint }) => checkpoint !== undefined).length
    }
    expect(await keptIn25Seconds(2)).toBe(2)
    expect(await keptIn25Seconds(1)).toBeGreaterThanOrEqual(5)
  })
})

describe('a host that was started again', () => {
  it('trains soon with those who came back, whoever else was ever in the run', async () => {
    const memories = [105_000, 105_000, 105_000]
    const before = await startScenario({ spec, memories, clusters: 3, engineMs: [60, 90] })
    await before.until(() => before.savedRuns.some(({ checkpoint }) => checkpoint !== undefined))
    const resume = before.savedRuns.at(-1)!
    expect(resume.book.members).toHaveLength(2)

    const again = await startScenario({
      spec,
      memories: memories.slice(0, 2),
      clusters: 2,
      engineMs: [60, 90],
      resume,
    })
    await again.until(({ phase, updates }) => phase === 'training' && updates > resume.checkpoint!.updates)
    expect(again.clock.now()).toBeLessThan(15 * second)
    const states = again.host.participation
      .view()
      .members.map(({ displayName, state }) => [displayName, state])
    expect(states).toEqual([
      ['host', 'training'],
      ['pc-1', 'training'],
      ['pc-2', 'lost'],
    ])
  })
})
