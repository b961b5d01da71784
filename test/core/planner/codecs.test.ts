import { describe, expect, it } from 'vitest'
import { chooseCodecs } from '../../../main/core/planner/codecs.ts'
import { createCostModel } from '../../../main/core/planner/cost.ts'
import { planFigures } from '../../../main/core/planner/plan-figures.ts'
import { modelProfile, pool, type ModelProfile } from '../../../shared/plan/pool.ts'

/** Each stage computes 100 ms a micro-batch; 1 MB crosses a border, each way. */
const profileWith = (codec?: ModelProfile['codec']) =>
  modelProfile.parse({
    name: 'even',
    layers: [0, 1, 2].map((layer) => ({
      name: `layer-${layer}`,
      parameterBytes: 1000,
      activationBytesPerSample: 1e6,
      workingBytesPerSample: 0,
      flopsPerSample: 25e6,
    })),
    microBatch: 1,
    inFlight: 64,
    ...(codec === undefined ? {} : { codec }),
  })

const ids = ['a', 'b', 'c']
/** Lines that carry so many bytes a second, a pair; the peers' own are never the limit. */
const linked = (first: number, second: number) =>
  pool.parse({
    peers: ids.map((id) => ({
      id,
      memoryBytes: 1e9,
      flopsPerSecond: 1e9,
      uploadBytesPerSecond: 1e12,
      downloadBytesPerSecond: 1e12,
    })),
    links: [
      { between: ['a', 'b'], bytesPerSecond: first },
      { between: ['b', 'c'], bytesPerSecond: second },
    ],
    defaultLatencySeconds: 0.001,
  })

const stages = ids.map((peer, at) => ({ peer, layers: [at, at + 1] as [number, number] }))
const chosen = (first: number, second: number, codec: ModelProfile['codec'] = 'auto') => {
  const cost = createCostModel(linked(first, second), profileWith(codec))
  return chooseCodecs(cost, stages.map(({ layers }, peer) => ({ peer, layers }))) // prettier-ignore
}

describe('the codec of a border', () => {
  it.each([
    ['float32 where the line carries it while the engines compute', 11e6, 'fp32'],
    ['16 bits where it carries half of it', 6e6, 'bf16'],
    ['8 where it carries not even that', 3e6, 'int8'],
    ['8 where it carries nothing in time', 1e5, 'int8'],
  ])('is %s', (_, rate, codec) => {
    expect(chosen(rate, 1e9)).toEqual([codec, 'fp32'])
    expect(chosen(1e9, rate)).toEqual(['fp32', codec])
  })

  it('is no more exact than its own line allows, whatever another one does', () => {
    expect(chosen(6e6, 3e6)).toEqual(['bf16', 'int8'])
    // The slow line sets the pace of all: the other one may take its time as well.
    expect(chosen(1e5, 6e6)).toEqual(['int8', 'fp32'])
  })

  it('is the recipe’s where that names one, on lines of any speed', () => {
    expect(chosen(1e5, 1e12, 'fp32')).toEqual(['fp32', 'fp32'])
    expect(chosen(1e12, 1e12, 'int8')).toEqual(['int8', 'int8'])
  })

  it('stands in the plan, whose figures count it; none at the leaf', () => {
    const figures = (codec?: ModelProfile['codec']) =>
      planFigures(linked(3e6, 1e9), profileWith(codec), [stages])
    const [cluster] = figures('auto').clusters
    expect(cluster!.stages.map(({ codec }) => codec)).toEqual(['int8', 'fp32', undefined])
    expect(figures().clusters[0]!.stages.map(({ codec }) => codec)).toEqual(['fp32', 'fp32', undefined])
    // 1 MB at 3 MB/s against 100 ms of computing, and some for the codec.
    expect(figures().samplesPerSecond).toBeCloseTo(3, 9)
    expect(figures('auto').samplesPerSecond).toBeGreaterThan(9.5)
    expect(figures('auto').samplesPerSecond).toBeLessThan(10)
  })
})
