import { describe, expect, it } from 'vitest'
import { type Learned, nothingLearned } from '../../shared/job/learned.ts'
import { type ScenarioSettings, smallJob, startScenario } from './pool.ts'

interface Compared {
  readonly samplesPerSecond: number
  readonly seconds: number
  readonly pipelineBytes: number
}
interface Comparison {
  readonly forecast: Compared
  readonly truth: Compared
  readonly shared: {
    readonly peers: readonly string[]
    readonly crowd?: {
      readonly slower: number
      readonly callSeconds: number
      readonly exchangeSeconds: number
    }
  } | null
  readonly peers: readonly { readonly peer: string; readonly slower: number }[]
}

async function run(settings: Partial<ScenarioSettings> = {}, learned: Learned = nothingLearned) {
  const taught: Learned[] = []
  const scenario = await startScenario({
    ...{ memories: [1e9, 1e9], spec: smallJob({ updates: 60 }), engineMs: [4, 4], clusters: 1 },
    learning: { learned, onLearned: (news) => taught.push(news) },
    ...settings,
  })
  await scenario.end(scenario.host)
  return { comparison: scenario.savedModels[0]?.report['comparison'] as Comparison, taught, scenario }
}

/** Engine calls of 4 ms each, whatever the benchmark said. */
describe('at the end of a run', () => {
  it('the report has the forecast beside the truth, and the host learned how slow its PCs were', async () => {
    const { comparison, taught } = await run()
    const { forecast, truth, peers } = comparison
    expect(truth.samplesPerSecond).toBeCloseTo(
      (forecast.seconds * forecast.samplesPerSecond) / truth.seconds,
      6,
    )
    expect(truth.pipelineBytes).toBe(forecast.pipelineBytes)
    expect(peers).toHaveLength(1)
    const [peer] = peers
    expect(taught).toEqual([
      {
        peers: [{ peer: peer?.peer, slower: Math.min(20, peer?.slower ?? 0), runs: 1 }],
        rates: [Math.max(0.01, truth.samplesPerSecond / forecast.samplesPerSecond)],
      },
    ])
  })

  it('agents of one machine have rehearsed together, and what they took is no lesson of their PC', async () => {
    const processors = 1
    const { comparison, taught } = await run({ memories: [49_500, 49_500], clusters: 1, processors })
    const { peers, crowd } = comparison.shared ?? {}
    expect(peers).toEqual(['host', 'pc-1'])
    // Engine calls of 4 ms, on a machine that says it worked all the time.
    expect(crowd?.callSeconds).toBeCloseTo(0.004, 3)
    expect(crowd?.exchangeSeconds).toBeGreaterThan(0.002)
    // What a benchmark of 1e9 FLOPs a second promises for some thousand of them takes longer than calls alone.
    expect(crowd?.slower).toBeGreaterThan(1)
    expect(comparison.peers.length).toBeGreaterThan(0)
    expect(taught).toEqual([nothingLearned])
  })

  it('the next forecast is nearer', async () => {
    const alone = { memories: [1e9], flopsPerSecond: 2e7 }
    const first = await run(alone)
    const second = await run(alone, first.taught[0])
    const off = ({ comparison: { forecast, truth } }: typeof first) =>
      Math.abs(Math.log(forecast.samplesPerSecond / truth.samplesPerSecond))
    expect(off(second)).toBeLessThan(off(first) / 2)
    expect(second.comparison.peers[0]?.slower).toBeCloseTo(1, 1)
  })
})
