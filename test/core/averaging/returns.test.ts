import { describe, expect, it } from 'vitest'
import type { MemberRing } from '../../../main/core/averaging/settings.ts'
import { ringsOf } from '../pipeline/pool.ts'
import { type Bench, type BenchMember, createBench } from './ring-bench.ts'

/** One ring of these clusters, each of one stage. */
const ringOf = (clusters: readonly number[]): MemberRing[] =>
  ringsOf(clusters.map(() => [])).map((plan, index) => ({
    index,
    plan: { ...plan, members: clusters.map((cluster) => `c${cluster}s0`) },
  }))

async function setAll(member: BenchMember, value: number): Promise<void> {
  const { values } = await member.engine.readState(member.layers)
  await member.engine.writeState({ layers: member.layers, values: values.map(() => value) })
}

async function round(bench: Bench, clusters: readonly number[]): Promise<void> {
  for (const cluster of clusters) bench.members[cluster]!.made(2)
  await bench.clock.advance(100)
}

describe('a cluster that comes back after rounds without it', () => {
  it('weighs what it trained, the others all that they trained since the last round together', async () => {
    const bench = await createBench({ cuts: [[], [], []], averageEvery: 2 })
    const [one, absent, other] = bench.members as [BenchMember, BenchMember, BenchMember]
    await round(bench, [0, 1, 2])
    absent.made(1)
    absent.averaging.replan({ planNumber: 2, rings: [] })
    for (const member of [one, other]) member.averaging.replan({ planNumber: 2, rings: ringOf([0, 2]) })
    for (let count = 0; count < 3; count++) await round(bench, [0, 2])
    expect(one.rounds.map(({ outcome }) => outcome)).toEqual(['averaged', 'averaged', 'averaged', 'averaged'])
    expect(one.averaging.stats().averagedSamples).toBe(80)
    expect(absent.averaging.stats().averagedSamples).toBe(20)

    await setAll(one, 100)
    await setAll(other, 100)
    await setAll(absent, 0)
    for (const { averaging } of bench.members) averaging.replan({ planNumber: 3, rings: ringOf([0, 1, 2]) })
    // Nothing new but the absent one's ten samples: they do not undo the sixty of each of the others.
    expect(await bench.finish()).toEqual(['averaged', 'averaged', 'averaged'])
    for (const cluster of [0, 1, 2])
      expect(new Set(await bench.numbers(cluster))).toEqual(new Set([Math.fround((2 * 60 * 100) / 130)]))
    expect(absent.averaging.stats().averagedSamples).toBe(30)
  })
})
