import { describe, expect, it } from 'vitest'
import { judgingSeconds, planRates } from '../../../main/core/planner/plan-rate.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'

const layer = {
  name: 'layer',
  parameterBytes: 600,
  activationBytesPerSample: 1000,
  workingBytesPerSample: 1,
  keptBytesPerSample: 1,
  flopsPerSample: 1,
}
const profile: ModelProfile = {
  ...{ name: 'two', layers: [layer, layer], stateFactor: 0, microBatch: 1, inFlight: 9, accumulate: 1 },
  ...{ averageEveryUpdates: 1, backwardFactor: 3, keepingBackwardFactor: 2, codec: 'auto' },
}

const poolOf = (links: Pool['links'] = []): Pool => ({
  peers: ['a', 'b', 'c', 'd'].map((id) => ({
    ...{ id, memoryBytes: 1e9, flopsPerSecond: 1e9 },
    ...{ uploadBytesPerSecond: 4000, downloadBytesPerSecond: 1e9 },
  })),
  links,
  defaultLatencySeconds: 0,
})

type Stage = Plan['layout']['clusters'][number]['stages'][number]
const stage = (peer: string, from: number, more: Partial<Stage> = {}): Stage => ({
  ...{ peer, layers: [from, from + 1], memoryBytes: 0, secondsPerMicroBatch: 0 },
  ...more,
})

function planOf(clusters: readonly Stage[][]): Plan {
  return {
    ...{
      number: 1,
      accumulate: 1,
      inFlight: clusters.map(() => 9),
      active: clusters.map((_, index) => index),
    },
    layout: {
      clusters: clusters.map((stages) => ({ stages, samplesPerSecond: 0 })),
      ...{ rings: [], unused: [], samplesPerSecond: 0, averagingSeconds: 0 },
    },
  }
}

describe('the rate of a plan in force', () => {
  it('is that of the codecs in the plan, not of the smallest there is', () => {
    const rateWith = (codec: Stage['codec']) =>
      planRates(poolOf(), profile, planOf([[stage('a', 0, { codec }), stage('b', 1)]]))[0]
    expect(rateWith('fp32')).toBeCloseTo(4, 5)
    expect(rateWith('bf16')).toBeCloseTo(8, 3)
    // A border that names no codec is whole.
    expect(rateWith(undefined)).toBeCloseTo(4, 5)
  })

  it('is that of stages that recompute where the plan says so, whatever room they have', () => {
    const slow: Pool = { ...poolOf(), peers: poolOf().peers.map((peer) => ({ ...peer, flopsPerSecond: 1 })) }
    const rateWith = (recompute: boolean) =>
      planRates(slow, profile, planOf([[stage('a', 0, { recompute }), stage('b', 1)]]))[0]
    expect(rateWith(true)).toBeCloseTo(1 / 4, 9)
    expect(rateWith(false)).toBeCloseTo(1 / 3, 9)
  })

  it('waits for averages on the way between two homes, where that is narrower than an upload', () => {
    const whole = (peer: string): Stage => ({ ...stage(peer, 0), layers: [0, 2] })
    const plan = planOf([[whole('a')], [whole('b')]])
    // 2 · 1/2 · 1200 bytes for one sample: at 4000 bytes a second by the upload, at 300 by the way.
    expect(planRates(poolOf(), profile, plan)[0]).toBeCloseTo(4000 / 1200, 9)
    const narrow = poolOf([{ between: ['a', 'b'], bytesPerSecond: 300 }])
    expect(planRates(narrow, profile, plan)[0]).toBeCloseTo(300 / 1200, 9)
  })

  it('counts all rings over one way, and what comes down to a member of several', () => {
    // Both stages of one cluster average with the one peer that holds all layers in the other.
    const plan = planOf([[{ ...stage('a', 0), layers: [0, 2] }], [stage('b', 0), stage('c', 1)]])
    const narrow = poolOf()
    const [a, ...rest] = narrow.peers
    const pool = { ...narrow, peers: [{ ...a!, downloadBytesPerSecond: 600 }, ...rest] }
    // Its 600 bytes a ring go up at 4000 and come down at 600, one ring after the other.
    expect(planRates(pool, profile, plan)[0]).toBeCloseTo(600 / 1200, 9)
  })

  it('has room on a line for averages and micro-batches together, not for all of each', () => {
    const layers = [layer, { ...layer, activationBytesPerSample: 10 }]
    const rare = { ...profile, layers, averageEveryUpdates: 10 }
    const plan = planOf([
      [stage('a', 0), stage('b', 1)],
      [stage('c', 0), stage('d', 1)],
    ])
    // Ten samples of 1000 bytes and a round of 600, at 4000 bytes a second; one alone would take 2.5 s or 0.15 s.
    expect(planRates(poolOf(), rare, plan)[0]).toBeCloseTo(10 / ((10 * 1000 + 600) / 4000), 9)
  })

  it('of peers on one machine is what its processors can compute at once', () => {
    const slow: Pool = { ...poolOf(), peers: poolOf().peers.map((peer) => ({ ...peer, flopsPerSecond: 1 })) }
    const plan = planOf([
      [stage('a', 0, { recompute: false }), stage('b', 1)],
      [stage('c', 0, { recompute: false }), stage('d', 1)],
    ])
    const rates = (peers: readonly string[], processors: number) =>
      planRates(slow, profile, plan, { peers: new Set(peers), processors })
    // Each stage computes all the time: 3 s a sample.
    const alone = [1 / 3, 1 / 3]
    const nearly = (expected: readonly number[]) => expected.map((rate): unknown => expect.closeTo(rate, 9))
    expect(rates(['a', 'b', 'c', 'd'], 4)).toEqual(nearly(alone))
    expect(rates(['a', 'b', 'c', 'd'], 2)).toEqual(nearly(alone.map((rate) => rate / 2)))
    expect(rates(['a', 'b'], 2)).toEqual(nearly(alone))
    // What two of them send each other is their processors' work: 2 · (0.5 s + 1000 bytes at 1000/s), beside 2 · 3 s.
    const links = [{ between: ['a', 'b'] as [string, string], latencySeconds: 0.5, bytesPerSecond: 1000 }]
    const one = planOf([[stage('a', 0, { recompute: false }), stage('b', 1)]])
    const sharing = { peers: new Set(['a', 'b']), processors: 1 }
    expect(planRates({ ...slow, links }, profile, one, sharing)[0]).toBeCloseTo(1 / 9, 9)
  })

  it('of a crowd on one machine counts what work, calls and messages cost there, not what each measured alone', () => {
    const links = [{ between: ['a', 'b'] as [string, string], latencySeconds: 9, bytesPerSecond: 1000 }]
    const peers = poolOf().peers.map((peer) => ({ ...peer, flopsPerSecond: 1, callSeconds: 7 }))
    const plan = planOf([[stage('a', 0, { recompute: false }), stage('b', 1)]])
    const crowd = { slower: 1.5, callSeconds: 0.1, exchangeSeconds: 0.5 }
    const sharing = { peers: new Set(['a', 'b']), processors: 1, crowd }
    const here = { peers, links, defaultLatencySeconds: 0 }
    // 2 · 3 s of work, half as long again, five calls with an update's after each micro-batch, an exchange, 2 · 1000 bytes at 1000/s.
    const seconds = 1.5 * 6 + (2 + 1 + 1 + 1) * 0.1 + 0.5 + 2
    const rate = planRates({ ...here, peers }, profile, plan, sharing)[0] ?? 0
    const alone = planRates({ ...here, peers }, profile, plan)[0] ?? 0
    const slowdown = (sharing: number) => Math.max(1, alone * sharing)
    expect(rate).toBeCloseTo(alone / slowdown(seconds), 9)
  })

  it('is not that of judging: a sample passes forward alone, through the first cluster', () => {
    const slow: Pool = { ...poolOf(), peers: poolOf().peers.map((peer) => ({ ...peer, flopsPerSecond: 1 })) }
    const plan = planOf([[stage('a', 0, { recompute: false }), stage('b', 1)]])
    // Of 3 s a layer and sample, 1 s; both stages are at it at the same time.
    const rates = planRates(slow, profile, plan)
    expect(judgingSeconds({ pool: slow, profile }, plan, { rates, shared: undefined })).toBeCloseTo(1, 9)
    const shared = { peers: new Set(['a', 'b']), processors: 1 }
    expect(judgingSeconds({ pool: slow, profile }, plan, { rates, shared })).toBeCloseTo(2, 9)
  })
})
