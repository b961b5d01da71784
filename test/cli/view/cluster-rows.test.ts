import { describe, expect, it } from 'vitest'
import { clusterRows } from '../../../main/cli/view/cluster-rows.ts'
import { plainPaint } from '../../../main/cli/view/paint.ts'
import type { Codec } from '../../../shared/codec/codec.ts'
import type { Layout } from '../../../shared/plan/plan.ts'

/** A cluster of stages of one layer, with these codecs at its borders; undefined: a plan that does not say. */
function headingWith(...codecs: readonly (Codec | undefined)[]): string | undefined {
  const stages = [...codecs, undefined].map((codec, at) => ({
    ...{
      peer: `pc-${at}`,
      layers: [at, at + 1] as [number, number],
      memoryBytes: 1,
      secondsPerMicroBatch: 1,
    },
    ...(codec === undefined ? {} : { codec }),
  }))
  const layout: Layout = {
    clusters: [{ stages, samplesPerSecond: 20 }],
    ...{ rings: [], unused: [], samplesPerSecond: 20, averagingSeconds: 0 },
  }
  return clusterRows(layout, [], { columns: 80, paint: plainPaint })[0]
}

describe('the heading of a cluster', () => {
  it('says how values travel between its stages', () => {
    expect(headingWith('fp32', 'fp32')).toMatch(/^Cluster A {2}20.* samples\/s, fp32 between its stages$/)
    expect(headingWith('fp32', 'int8')).toMatch(/, fp32, int8 between its stages$/)
    expect([headingWith(), headingWith(undefined)].join()).not.toContain('between')
  })
})
