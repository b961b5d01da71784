/**
 * A round commits for all or for none: whoever dies, freezes or is late, and whenever, the survivors of each ring hold
 * the exact mean of the whole ring, or each its own numbers.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ringsOf as plannedRings } from '../../../main/core/planner/rings.ts'
import type { MemberRing } from '../../../main/core/averaging/settings.ts'
import type { RingPlan } from '../../../shared/plan/plan.ts'
import { peerName, ringsOf, stagesOf } from '../pipeline/pool.ts'
import { type Bench, type BenchMember, createBench } from './ring-bench.ts'

type Cuts = readonly (readonly number[])[]

/** Of each ring of the first plan, what each member holds. */
async function numbersByRing(bench: Bench, rings: readonly RingPlan[]): Promise<Map<string, number[]>[]> {
  const read = async ({ layers, members }: RingPlan) => {
    const rows = members.map(async (peer) => {
      const { engine } = bench.members.find((member) => member.peer === peer)!
      const states = await Promise.all(layers.map((range) => engine.readState(range)))
      return [peer, states.flatMap(({ values }) => [...values])] as const
    })
    return new Map(await Promise.all(rows))
  }
  return bench.clock.runUntil(Promise.all(rings.map(read)))
}

function meanOf(rows: ReadonlyMap<string, number[]>): number[] {
  const all = [...rows.values()]
  return all[0]!.map((_, at) => Math.fround(all.reduce((sum, own) => sum + own[at]!, 0) / all.length))
}

/** A plan without some clusters, as the host makes it; they are told, too. */
function replan(cuts: Cuts, active: readonly number[], planNumber: number, member: BenchMember): void {
  const stages = active.map((cluster) =>
    stagesOf(cuts[cluster]!).map((layers, stage) => ({ layers, peer: peerName(cluster, stage) })),
  )
  const rings = plannedRings(stages).map((ring, index): MemberRing => ({
    index,
    plan: { ...ring, layers: ring.layers.map(([from, to]) => [from, to]) },
  }))
  member.averaging.replan({
    planNumber,
    rings: rings.filter(({ plan }) => plan.members.includes(member.peer)),
  })
}

const fault = fc.record({
  kind: fc.constantFrom('die', 'freeze'),
  member: fc.nat({ max: 30 }),
  atMs: fc.nat({ max: 700 }),
  /** After the fault, the new plan reaches members so much later, in this order over and over. */
  heardMs: fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 5 }),
})

const cases = fc.record({
  seed: fc.nat(),
  cuts: fc.array(fc.constantFrom([], [3], [2, 5]), { minLength: 2, maxLength: 5 }),
  linkMs: fc.constantFrom(1, 40, 100),
  pieceElements: fc.constantFrom(7, 1000),
  faults: fc.array(fault, { minLength: 1, maxLength: 2 }),
})

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

/** All members are ready; then clusters are lost one after another. */
async function playOut({ seed, cuts, linkMs, pieceElements, faults }: Case) {
  const bench = await createBench({ cuts, seed, linkMs, pieceElements, averageEvery: 2 })
  const { clock, network, members } = bench
  const rings = ringsOf(cuts)
  const before = await numbersByRing(bench, rings)
  for (const member of members) member.made(2)
  const gone = new Set<number>()
  const strike = async (kind: string, member: number, atMs: number) => {
    await clock.sleep(atMs)
    const { peer, cluster } = members[member % members.length]!
    gone.add(cluster)
    if (kind === 'freeze') network.hinder(peer, { frozenUntilMs: clock.now() + 20_000 })
    else await network.sever(peer)
  }
  let planNumber = 1
  const spread = async ({ kind, member, atMs, heardMs }: (typeof faults)[number]) => {
    await strike(kind, member, atMs)
    planNumber += 1
    const active = cuts.map((_, cluster) => cluster).filter((cluster) => !gone.has(cluster))
    // A host's messages come in order.
    let lastMs = 0
    const number = planNumber
    for (const [index, one] of members.entries()) {
      lastMs = Math.max(lastMs, heardMs[index % heardMs.length]!)
      void clock.sleep(lastMs).then(() => { replan(cuts, active, number, one) }) // prettier-ignore
    }
    await clock.sleep(lastMs)
  }
  for (const one of faults) await clock.runUntil(spread(one))
  await clock.advance(60_000)
  return { bench, rings, before, after: await numbersByRing(bench, rings), gone }
}

const clusterOf = (peer: string) => Number(/^c(\d+)s/.exec(peer)![1])

describe('a round whose members are lost', () => {
  it('leaves the survivors of each ring with its exact mean, or each with its own numbers', async () => {
    const seen = { mean: 0, own: 0 }
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const { bench, rings, before, after, gone } = await playOut(one)
        for (const [index, { members }] of rings.entries()) {
          const survivors = members.filter((peer) => !gone.has(clusterOf(peer)))
          const mean = meanOf(before[index]!)
          const hold = (expected: (peer: string) => number[]) =>
            survivors.every((peer) => String(after[index]!.get(peer)) === String(expected(peer)))
          const isMean = hold(() => mean)
          const isOwn = hold((peer) => before[index]!.get(peer)!)
          expect(isMean || isOwn, `ring ${index} of ${survivors.join(', ')}`).toBe(true)
          if (survivors.length > 1 && members.length > survivors.length) seen[isMean ? 'mean' : 'own'] += 1
          // Nor do the lost hold a half sum.
          for (const peer of members)
            expect([String(mean), String(before[index]!.get(peer))]).toContain(
              String(after[index]!.get(peer)),
            )
        }
        expect(bench.members.flatMap(({ refused }) => refused)).toEqual([])
      }),
      { numRuns: 150 },
    )
    expect(Math.min(seen.mean, seen.own)).toBeGreaterThan(10)
  })
})
