import { describe, expect, it } from 'vitest'
import { simulatePool, type ReportRequest, type SimulationReport } from '../../main/simulation/report.ts'
import { noStragglers, parseStragglers } from '../../main/simulation/stragglers.ts'
import { poolOf, profileOf } from './small.ts'

/** Eight PCs that hold half the model each, on home lines. */
const homes = poolOf(
  Array.from({ length: 8 }, (_, index) => ({
    memoryBytes: 12_000,
    flopsPerSecond: 400 + 50 * index,
    uploadBytesPerSecond: 2000,
    downloadBytesPerSecond: 10_000,
  })),
  { defaultLatencySeconds: 0.02 },
)
const profile = profileOf(4, { averageEveryUpdates: 10, stateFactor: 4 })

async function report(changes: Partial<ReportRequest> = {}) {
  const request = { pool: homes, profile, seed: 1, minutes: 4, stragglers: noStragglers, loss: 0 }
  const answer = await simulatePool({ ...request, trace: false, ...changes })
  if (!answer.report.feasible) throw new TypeError(answer.report.reason)
  return { report: answer.report, trace: answer.trace }
}

const uneven = {
  stragglers: parseStragglers('lognormal:0.3'),
  loss: 0.02,
  churn: { meanSeconds: 250, backSeconds: 20 },
}

describe('a simulation', () => {
  it('says the same to the byte for the same seed, and other things for another', async () => {
    const [one, same, other] = await Promise.all([
      report(uneven),
      report(uneven),
      report({ ...uneven, seed: 2 }),
    ])
    expect(JSON.stringify(one)).toBe(JSON.stringify(same))
    expect(JSON.stringify(one)).not.toBe(JSON.stringify(other))
  })

  it('goes on through losses: clusters stop, others average without them, new plans bring all back', async () => {
    const [calm, wild] = await Promise.all([report(), report(uneven)])
    expect(wild.report.losses).toBeGreaterThan(3)
    expect(wild.report.plans).toBeGreaterThan(1)
    expect(wild.report.lostSamples).toBeGreaterThan(0)
    const share = wild.report.samplesPerSecond / calm.report.samplesPerSecond
    expect(share).toBeGreaterThan(0.3)
    expect(share).toBeLessThan(0.95)
    expect(calm.report).toMatchObject({ losses: 0, plans: 1, lostSamples: 0 })
  })

  it('is slower the more uneven the processors are', async () => {
    const rates: number[] = []
    for (const deviation of [0, 0.3, 0.8])
      rates.push((await report({ stragglers: { type: 'lognormal', deviation } })).report.samplesPerSecond)
    expect(rates).toEqual(rates.toSorted((one, two) => two - one))
  })

  it('counts every micro-batch of every stage once in its staleness', async () => {
    const { report: of } = await report()
    const counted = of.staleness.reduce((sum, count) => sum + count, 0)
    const depth = of.participants / of.clusters
    const trained = (of.samples / profile.microBatch) * depth
    // What is in flight at the end has passed some stages and not others.
    expect(Math.abs(counted - trained)).toBeLessThanOrEqual(of.participants * profile.inFlight)
  })

  it('answers a pool that cannot hold the model as the planner does', async () => {
    const small = poolOf([{ memoryBytes: 10 }])
    const answer = await simulatePool({
      ...{ pool: small, profile, seed: 1, minutes: 1, stragglers: noStragglers, loss: 0, trace: true },
    })
    expect(answer).toMatchObject({ report: { feasible: false, shortfallBytes: 19_990 }, trace: undefined })
  })

  it('refuses what would take ages, and says what to do', async () => {
    const pool = poolOf([{}])
    await expect(report({ pool, minutes: 100 })).rejects.toThrow(/simulate fewer minutes/)
  })
})

describe('why it is slow', () => {
  const remedyOf = ({ remedies }: SimulationReport, change: string) =>
    remedies.find((remedy) => remedy.change.includes(change))?.gain ?? NaN

  it('names the processor, and twice as fast a one gains as much as there is to gain', async () => {
    const pool = poolOf([{ flopsPerSecond: 400, memoryBytes: 12_000 }, { memoryBytes: 12_000 }])
    const { report: of } = await report({ pool })
    expect(of.whySlow).toMatchObject({ limit: 'compute', peer: 'pc-0' })
    expect(of.whySlow.sentence).toMatch(/^The processor of pc-0 is busy (99|100) % of the time\.$/)
    expect(of.remedies[0]?.gain).toBeCloseTo(1, 1)
    expect(remedyOf(of, 'a processor twice as fast for pc-0')).toBeCloseTo(1, 1)
    expect(remedyOf(of, 'uploads')).toBeCloseTo(0, 2)
  })

  it('names the upload', async () => {
    const pool = poolOf([
      { uploadBytesPerSecond: 500, memoryBytes: 12_000 },
      { uploadBytesPerSecond: 900, memoryBytes: 12_000 },
    ])
    const { report: of } = await report({ pool })
    expect(of.whySlow).toMatchObject({ limit: 'upload', peer: 'pc-0' })
    expect(remedyOf(of, 'half the bytes')).toBeCloseTo(1, 1)
    expect(remedyOf(of, 'a line twice as wide for pc-0')).toBeCloseTo(0.8, 1)
  })

  it('predicts for one slow uplink what simulating the pool without it shows', async () => {
    const others = { uploadBytesPerSecond: 2000, memoryBytes: 12_000 }
    const slow = poolOf([others, { ...others, uploadBytesPerSecond: 400 }])
    const { report: of } = await report({ pool: slow, minutes: 20 })
    expect(of.whySlow).toMatchObject({ limit: 'upload', peer: 'pc-1' })
    // 1000 bytes of gradients a micro-batch, at 400 bytes a second, then at 800: until 2000 would the other one hold it back.
    expect(of.samplesPerSecond).toBeCloseTo(4, 1)
    const [best] = of.remedies
    expect(best?.change).toBe('a line twice as wide for pc-1')
    expect(best?.gain).toBeCloseTo(1, 1)
    const wide = poolOf([others, { ...others, uploadBytesPerSecond: 800 }])
    const { report: then } = await report({ pool: wide, minutes: 20 })
    expect((best?.samplesPerSecond ?? 0) / then.samplesPerSecond).toBeCloseTo(1, 2)
  })

  it('sends and computes as the plan says: codecs by border, and stages that keep or recompute', async () => {
    const layers = profile.layers.map((layer) => ({
      ...layer,
      keptBytesPerSample: 1,
      entryBytesPerSample: 1,
    }))
    const auto = { ...profile, layers, codec: 'auto' as const, keepingBackwardFactor: 2 }
    const line = (uploadBytesPerSecond: number) =>
      poolOf([
        { uploadBytesPerSecond, memoryBytes: 12_000 },
        { uploadBytesPerSecond, memoryBytes: 12_000 },
      ])
    const narrow = await report({ pool: line(500), profile: auto, minutes: 20 })
    // int8: 33 bytes for 32 numbers of 4.
    expect(narrow.report.samplesPerSecond).toBeCloseTo(10 / ((1000 * 33) / 128 / 500), 0)
    const processors = poolOf([
      { flopsPerSecond: 100, memoryBytes: 12_000 },
      { flopsPerSecond: 100, memoryBytes: 12_000 },
    ])
    const kept = await report({ pool: processors, profile: auto, minutes: 60 })
    // Two layers of 100 FLOPs a micro-batch, once forward and twice as much backward.
    expect(kept.report.samplesPerSecond).toBeCloseTo(10 / ((200 * 3) / 100), 1)
    const recomputed = await report({
      ...{ pool: processors, minutes: 60 },
      profile: { ...auto, layers: layers.map((layer) => ({ ...layer, keptBytesPerSample: 1e9 })) },
    })
    // The last stage keeps all the same; the first runs forward again.
    expect(recomputed.report.samplesPerSecond).toBeCloseTo(10 / ((200 * 4) / 100), 1)
  })

  it('names the long way where credits run out', async () => {
    const pool = poolOf([{ memoryBytes: 12_000 }, { memoryBytes: 12_000 }], { defaultLatencySeconds: 1 })
    const { report: of } = await report({ pool, profile: { ...profile, inFlight: 2 } })
    expect(of.whySlow.limit).toBe('round-trip')
    expect(remedyOf(of, 'twice the micro-batches in flight')).toBeCloseTo(1, 1)
    expect(remedyOf(of, 'half the latency')).toBeCloseTo(1, 1)
  })
})

describe('the timeline', () => {
  it('has every PC’s work without overlap, as long as it was busy', async () => {
    const { report: of, trace } = await report({ trace: true, minutes: 2 })
    expect(trace?.complete).toBe(true)
    const events = trace?.traceEvents ?? []
    const names = new Map(
      events
        .filter(({ ph, name }) => ph === 'M' && name === 'process_name')
        .map(({ pid, args }) => [args?.['name'], pid]),
    )
    for (const { peer, busyShare } of of.stages) {
      const spans = events.filter(({ pid, tid, ph }) => pid === names.get(peer) && tid === 1 && ph === 'X')
      const ends = spans.map(({ ts = 0, dur = 0 }) => ts + dur)
      spans.slice(1).forEach(({ ts = 0 }, index) => {
        expect(ts).toBeGreaterThanOrEqual((ends[index] ?? 0) - 1)
      })
      const warm = 12_000_000
      const busy = spans.reduce(
        (sum, { ts = 0, dur = 0 }) => sum + Math.max(0, ts + dur - Math.max(ts, warm)),
        0,
      )
      expect(busy / 108_000_000).toBeCloseTo(busyShare, 3)
    }
    expect(() => JSON.parse(JSON.stringify({ traceEvents: events })) as unknown).not.toThrow()
  })
})
