/** How soon a pool is back at its speed, in virtual time: after a loss, and after a pause. */
import { describe, expect, it } from 'vitest'
import { second } from '../../shared/units.ts'
import { type Scenario, smallJob, startScenario } from './pool.ts'

const half = 52_500
const third = 36_500
/** A job that does not end while we look. */
const poolOf = (peers: number, memory: number, seed: number) =>
  startScenario({
    ...{ memories: Array.from({ length: peers }, () => memory), seed },
    ...{
      flopsPerSecond: 1e6,
      engineMs: [20, 20] as const,
      spec: smallJob({ updates: 100_000, everyUpdates: 100_000 }),
    },
  })

/** Rows that leaves were given. */
const trained = ({ taught }: Scenario) => [...taught.values()].reduce((sum, rows) => sum + rows.length, 0)

async function rateOver(scenario: Scenario, durationMs: number): Promise<number> {
  const before = trained(scenario)
  await scenario.clock.advance(durationMs)
  return (trained(scenario) - before) / (durationMs / second)
}

async function steadyRate(peers: number, memory: number, seed: number): Promise<number> {
  const scenario = await poolOf(peers, memory, seed)
  await scenario.until(({ updates }) => updates >= 20)
  await scenario.clock.advance(10 * second)
  return rateOver(scenario, 20 * second)
}

describe.each([
  ['two hold the model', half],
  ['three hold the model', third],
])('a pool of six of which %s', (_, memory) => {
  it.each([1])(
    'is back at four fifths of what five can do within ten seconds of a kill -9 (seed %i)',
    async (seed) => {
      const five = await steadyRate(5, memory, seed)
      const scenario = await poolOf(6, memory, seed)
      await scenario.until(({ updates }) => updates >= 20)
      await scenario.clock.advance(10 * second)
      await scenario.lose('pc-3')
      await scenario.clock.advance(10 * second)
      const rate = await rateOver(scenario, 10 * second)
      expect(rate).toBeGreaterThanOrEqual(0.8 * five)
    },
  )
})

describe('a pause', () => {
  it('is in force within two seconds and a resume within five, and no sample is lost', async () => {
    const scenario = await startScenario({
      ...{ memories: [half, half, half, half], clusters: 2, flopsPerSecond: 1e6, engineMs: [20, 20] },
      spec: smallJob({ updates: 300 }),
    })
    await scenario.until(({ updates }) => updates >= 20)
    const { clock } = scenario
    const pc = scenario.members.find(({ name }) => name === 'pc-3')!.participation
    const until = async (holds: () => boolean) => {
      const beganMs = clock.now()
      while (!holds()) await clock.advance(10)
      return clock.now() - beganMs
    }
    pc.pause()
    const pausedMs = await until(() => pc.view().phase === 'paused')
    await clock.advance(8 * second)
    const samples = () => pc.view().members.find(({ peer }) => peer === 'pc-3')!.samples
    const before = samples()
    pc.resume()
    const resumedMs = await until(() => samples() > before)
    expect(pausedMs).toBeLessThanOrEqual(2 * second)
    expect(resumedMs).toBeLessThanOrEqual(5 * second)
    expect(await scenario.end(scenario.host)).toMatchObject({ outcome: 'finished', lostSamples: 0 })
  })
})

describe('two PCs of a cluster that lose each other', () => {
  /** A single cluster, two PCs of it side by side that are not the host's. */
  async function parted() {
    const scenario = await poolOf(4, 26_500, 1)
    await scenario.until(({ updates }) => updates >= 20)
    const { plan } = scenario.host.participation.view()
    const names = plan!.layout.clusters[0]!.stages.map(({ peer }) => peer)
    const at = names.findIndex(
      (name, index) => name !== 'host' && ![undefined, 'host'].includes(names[index + 1]),
    )
    const [one, other] = [names[at]!, names[at + 1]!]
    await scenario.clock.runUntil(scenario.network.part(one, other))
    return { scenario, one, other }
  }
  const said = ({ host }: Scenario) => host.participation.view().log.map(({ text }) => text)

  it('for a moment train again within five seconds, and nobody leaves', async () => {
    const { scenario } = await parted()
    scenario.network.mend()
    const stood = trained(scenario)
    await scenario.clock.advance(5 * second)
    expect(trained(scenario)).toBeGreaterThan(stood + 200)
    expect(
      said(scenario).filter((text) => text.includes('missed a PC of its cluster')).length,
    ).toBeGreaterThan(0)
    expect(said(scenario).filter((text) => /is gone|leaves/.test(text))).toEqual([])
  })

  it('while one of them pauses train again when that is over', async () => {
    const { scenario, one } = await parted()
    const { participation } = scenario.members.find(({ name }) => name === one)!
    await scenario.clock.advance(second) // the cluster is asked to empty itself when the host hears that it cannot
    participation.pause()
    scenario.network.mend()
    await scenario.clock.advance(10 * second)
    expect(participation.own()).toMatchObject({ state: 'paused', pausesByUs: true })
    const stood = trained(scenario)
    participation.resume()
    await scenario.clock.advance(5 * second)
    expect(trained(scenario)).toBeGreaterThan(stood + 200)
  })

  it('for good are planned around: one of them goes', async () => {
    const { scenario } = await parted()
    await scenario.clock.advance(60 * second)
    expect(said(scenario).some((text) => /is gone: .*cannot be reached/.test(text))).toBe(true)
  })
})
