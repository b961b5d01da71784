import { describe, expect, it } from 'vitest'
import { forecastRow, limitedBy } from '../../../main/core/job/host-forecast.ts'
import { estimateJoin } from '../../../main/core/job/join-estimate.ts'
import { summaryOf, wholeModel } from '../../../main/core/job/job-summary.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import { smallJob } from '../../scenarios/pool.ts'

const summary = {
  members: 1,
  memoryBytes: 1000,
  parameters: 100,
  flopsPerSample: 10,
  activationBytesPerSample: [20, 40] as [number, number],
  samplesBetweenAverages: 800,
}
const pc = { memoryBytes: 2000, flopsPerSecond: 1000, uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 }

const spread = [0.95, 1.3] as const

describe('what joining would mean', () => {
  it('is counted by hand: 100 samples a second, as a copy of the model or as a stage of it', () => {
    expect(estimateJoin(summary, pc)).toEqual({
      memoryBytes: 1000,
      samplesPerSecond: [50, 100],
      // As a copy, 2·(2−1)/2·400 bytes every 800 samples, at half the pace; as a stage, two members' samples twice 40.
      uploadBytesPerHour: [3600 * 50 * 0.5, 3600 * 100 * 2 * 2 * 40],
      downloadBytesPerHour: [3600 * 50 * 0.5, 3600 * 100 * 2 * 2 * 40],
      limitedBy: 'The processor of this PC is what limits it.',
    })
  })

  it('is a part of the model for a PC that cannot hold all of it', () => {
    const estimate = estimateJoin(summary, { ...pc, memoryBytes: 999 })
    expect(estimate.memoryBytes).toBe(999)
    expect(estimate.uploadBytesPerHour[0]).toBe(3600 * 50 * 2 * 20)
    expect(estimate.limitedBy).toMatch(
      /^This PC lends 999 bytes of memory, so it would hold a part of the model/,
    )
  })

  it('never passes a cap, which slows this PC down', () => {
    const estimate = estimateJoin(summary, { ...pc, uploadBytesPerSecond: 8_000 })
    expect(estimate.uploadBytesPerHour[1]).toBe(3600 * 8_000)
    expect(estimate.samplesPerSecond).toEqual([25, 100])
    expect(estimate.limitedBy).toBe('Your upload cap of 8 kB a second may hold this PC back.')
    const { limitedBy: down } = estimateJoin(summary, { ...pc, downloadBytesPerSecond: 8_000 })
    expect(down).toMatch(/download cap/)
  })
})

describe('the summary of a job', () => {
  it('holds the numbers of its model, and nothing of its data', () => {
    const spec = smallJob()
    const summed = summaryOf(spec)
    const numbers = 8 * 16 + 16 + 4 * (16 * 16 + 16) + 16 * 4 + 4
    expect(summed).toMatchObject({
      ...{ name: 'scenario', model: 'small', parameters: numbers, activationBytesPerSample: [64, 64] },
      samplesBetweenAverages: 4 * 4 * 8,
    })
    expect(summed.flopsPerSample).toBeGreaterThan(2 * numbers)
    expect(summed.memoryBytes).toBeGreaterThan(4 * numbers)
    expect(Object.keys(summed)).not.toContain('data')
  })
})

describe('the forecast of a job', () => {
  const { graph } = smallJob()
  const { memoryBytes } = wholeModel(graph, recipe.parse({}))
  const request = {
    spread,
    ...{ graph, recipe: recipe.parse({}), updates: 100, seed: 0, clusters: undefined },
    pc: { ...pc, memoryBytes, flopsPerSecond: 1e6 },
  }

  it('is a range of the planner’s own seconds, twice as long on half the processor', () => {
    const { seconds, fits } = forecastRow(request, 1)
    const slower = forecastRow({ ...request, pc: { ...request.pc, flopsPerSecond: 5e5 } }, 1)
    expect(fits).toBe(true)
    expect(seconds[1] / seconds[0]).toBeCloseTo(1.3 / 0.95)
    expect(slower.seconds[0] / seconds[0]).toBeCloseTo(2)
  })

  it('says from how many PCs on the model fits, and when it never does', () => {
    const small = { ...request, pc: { ...request.pc, memoryBytes: 0.7 * memoryBytes } }
    const rows = [1, 2, 3].map((peers) => forecastRow(small, peers))
    expect(rows.map(({ fits }) => fits)).toEqual([false, true, true])
    expect(rows[0]!.seconds).toEqual([0, 0])
    expect(limitedBy(rows.slice(0, 1), spread)).toBe('The model does not fit into the memory of this PC.')
    expect(limitedBy(rows.slice(0, 2), spread)).toBe('The model fits from 2 PCs like this one on.')
  })

  it('says so where more PCs do not make it shorter', () => {
    expect(
      limitedBy(
        [1, 2].map((peers) => forecastRow(request, peers)),
        spread,
      ),
    ).toMatch(/^More PCs do not shorten it/)
  })
})
