import { describe, expect, it } from 'vitest'
import { openEngines } from './engines.ts'
import { type CutModel, models } from './models.ts'
import { differences } from './numbers.ts'
import { adamw, createPool, validationSamples } from './pool.ts'

const targetUpdates = 6

describe.each(['wasm', 'cpu', 'kernels'] as const)('a cluster with one credit on %s', (backend) => {
  const opened = openEngines(backend, 4)

  async function trained({ graph }: CutModel, cuts: readonly number[], evaluateAtMs: readonly number[] = []) {
    const schedule = { optimizer: adamw, accumulate: 2, inFlight: 1, staleness: 'predict', targetUpdates } as const // prettier-ignore
    const pool = await createPool(opened.engines, { ...schedule, graph, cuts: [cuts], seed: 4 })
    const root = pool.roots[0]!
    const evaluations = evaluateAtMs.map(async (ms) => {
      await pool.clock.sleep(ms)
      return root.evaluate(validationSamples)
    })
    pool.start()
    await pool.train()
    const seenAt = (await pool.clock.runUntil(Promise.all(evaluations))).map(({ updates }) => updates)
    const { tally } = await pool.clock.runUntil(root.evaluate(validationSamples))
    return { numbers: await pool.numbers(), tallies: pool.members.at(-1)!.tallies, tally, seenAt }
  }

  it.each(Object.entries(models))(
    'equals one stage bit for bit, however it is cut, with evaluations among the training or without: %s',
    async (_what, model) => {
      const whole = await trained(model, [])
      for (const cuts of backend === 'cpu'
        ? [model.cuts[4]]
        : [[], model.cuts[2], model.cuts[3], model.cuts[4]]) {
        const cut = await trained(model, cuts, [5, 20])
        expect(differences(cut.numbers, whole.numbers)).toEqual([])
        expect([cut.tallies, cut.tally]).toEqual([whole.tallies, whole.tally])
        expect(cut.seenAt.filter((updates) => updates < targetUpdates).length).toBeGreaterThan(0)
      }
    },
  )
})
