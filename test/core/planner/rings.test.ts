import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Held, ringsOf } from '../../../main/core/planner/rings.ts'

const layerCount = 9
/** A cluster of peers of its own, cut anywhere. */
const clusters = fc
  .array(fc.uniqueArray(fc.integer({ min: 1, max: layerCount - 1 })), { minLength: 1, maxLength: 4 })
  .map((cuts) =>
    cuts.map((inner, cluster) => {
      const bounds = [0, ...inner.toSorted((a, b) => a - b), layerCount]
      return bounds
        .slice(1)
        .map((to, stage): Held<string> => ({ peer: `${cluster}-${stage}`, layers: [bounds[stage] ?? 0, to] }))
    }),
  )

describe('the rings of a plan', () => {
  it('cover every layer once, each with the holders of its layers in cluster order', () => {
    fc.assert(
      fc.property(clusters, (plan) => {
        const members = Array.from({ length: layerCount }, (): (readonly string[])[] => [])
        for (const ring of ringsOf(plan)) {
          for (const [from, to] of ring.layers)
            for (let layer = from; layer < to; layer++) members[layer]?.push(ring.members)
        }
        const holders = members.map((_, layer) => [
          plan.map((stages) => stages.find(({ layers }) => layers[0] <= layer && layer < layers[1])?.peer),
        ])
        expect(members).toEqual(holders)
      }),
    )
  })

  it('are one for the segments of the same peers', () => {
    const held = (peer: string, from: number, to: number) => ({ peer, layers: [from, to] as const })
    expect(
      ringsOf([
        [held('a', 0, 2), held('b', 2, 5)],
        [held('c', 0, 3), held('d', 3, 5)],
      ]),
    ).toEqual([
      { layers: [[0, 2]], members: ['a', 'c'] },
      { layers: [[2, 3]], members: ['b', 'c'] },
      { layers: [[3, 5]], members: ['b', 'd'] },
    ])
  })
})
