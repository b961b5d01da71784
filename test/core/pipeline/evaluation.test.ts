import { describe, expect, it } from 'vitest'
import type { Tally } from '../../../shared/model/graph.ts'
import { crossEntropy, programOf, runForward } from '../../fakes/stage-math.ts'
import { createFakeBatches } from '../../fakes/batches.ts'
import { classes, createPool, features, layerCount, normGraph, type Pool } from './pool.ts'
import { validationBatches } from '../../../main/core/pipeline/order.ts'

const slow = { engineMs: () => 5, linkMs: 20 }

/** Validation samples [0, limit) through the whole model in one go, at the cluster's numbers as they are now. */
async function judgeAlone(pool: Pool, limit: number): Promise<Tally> {
  const { settings, members } = pool
  const program = programOf(settings.graph, [0, layerCount])
  const perLayer = await pool.clock.runUntil(
    Promise.all(members.map(({ engine, assignment }) => engine.readState(assignment.layers))),
  )
  const trained = members.flatMap(({ assignment }, index) => {
    const { layout } = programOf(settings.graph, assignment.layers)
    return [...perLayer[index]!.values.subarray(0, layout.trainedLength)]
  })
  const untrained = members.flatMap(({ assignment }, index) => {
    const { layout } = programOf(settings.graph, assignment.layers)
    return [...perLayer[index]!.values.subarray(layout.trainedLength)]
  })
  const batches = createFakeBatches({ seed: settings.seed, shape: [features], classes })
  const sum = { lossSum: 0, labels: 0, correct: 0, correctTop5: 0 }
  for (const batch of validationBatches({ ...settings, limit })) {
    const input = (await batches.inputs(batch)).data as Float32Array
    const { output } = runForward(program, Float32Array.from([...trained, ...untrained]), input, false)
    const { tally } = crossEntropy(output, (await batches.labels(batch)).data as Int32Array)
    for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += tally[key]
  }
  return sum
}

const settings = { graph: normGraph, inFlight: 2, accumulate: 2, targetUpdates: 6, ...slow }

describe('an evaluation through the pipeline', () => {
  it.each([[[]], [[3]], [[2, 5]]])('equals the whole model judged in one go; cuts %j', async (cuts) => {
    const pool = await createPool({ cuts: [cuts], ...settings })
    await pool.train()
    for (const samples of [10, 7, 999]) {
      const { tally, updates } = await pool.clock.runUntil(pool.roots[0]!.stage.evaluate(samples))
      expect(updates).toBe(6)
      expect(tally).toEqual(await judgeAlone(pool, samples))
    }
  })

  it('goes on among the training and changes nothing in it', async () => {
    const synchronous = { ...settings, inFlight: 1, targetUpdates: 12 }
    const plain = await createPool({ cuts: [[2, 5]], ...synchronous })
    await plain.train()
    const pool = await createPool({ cuts: [[2, 5]], ...synchronous })
    pool.start()
    const ends = Promise.all(pool.members.map(({ stage }) => stage.finished))
    const root = pool.roots[0]!.stage
    await pool.clock.advance(200)
    const both = Promise.all([root.evaluate(10), root.evaluate(4)])
    const [{ tally, updates }, other] = await pool.clock.runUntil(both)
    expect([tally.labels, other.tally.labels]).toEqual([10, 4])
    expect(updates).toBeLessThan(12)
    await pool.clock.runUntil(ends)
    expect(await pool.clock.runUntil(pool.numbers(0))).toEqual(await plain.clock.runUntil(plain.numbers(0)))
  })

  it('uses credits like training, never more than there are', async () => {
    const pool = await createPool({ cuts: [[2, 5]], ...settings, targetUpdates: 1000 })
    pool.start()
    const root = pool.roots[0]!.stage
    void root.evaluate(10)
    let most = 0
    for (let step = 0; step < 60; step++) {
      await pool.clock.advance(5)
      most = Math.max(most, root.stats().inFlight)
    }
    expect(most).toBe(2)
    expect(pool.members.flatMap(({ refused }) => refused)).toEqual([])
  })

  it('of no samples is empty at once, and one of a stopped stage rejects', async () => {
    const pool = await createPool({ cuts: [[3]], ...settings })
    const root = pool.roots[0]!.stage
    expect((await root.evaluate(0)).tally.labels).toBe(0)
    const judging = expect(root.evaluate(10)).rejects.toMatchObject({ code: 'aborted', message: 'enough' })
    await pool.clock.runUntil(root.stop('enough'))
    await judging
    await expect(root.evaluate(10)).rejects.toMatchObject({ code: 'aborted' })
  })

  it('reports a diverged model as a huge loss that can still be sent', async () => {
    const pool = await createPool({ cuts: [[3]], ...settings, graph: normGraph })
    const leaf = pool.members.at(-1)!
    const { values } = await pool.clock.runUntil(leaf.engine.readState([6, 7]))
    const broken = leaf.engine.writeState({ layers: [6, 7], values: values.fill(NaN) })
    await pool.clock.runUntil(broken)
    const { tally } = await pool.clock.runUntil(pool.roots[0]!.stage.evaluate(10))
    expect(tally.lossSum).toBeGreaterThan(1e100)
    expect(Number.isFinite(tally.lossSum)).toBe(true)
  })
})
