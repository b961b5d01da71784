import { describe, expect, it } from 'vitest'
import { openEngines } from './engines.ts'
import { type CutModel, convolutional, models } from './models.ts'
import { differences, furthest } from './numbers.ts'
import { type PoolSettings, adam, adamw, createPool, momentum, simulated } from './pool.ts'

type Schedule = Pick<
  PoolSettings,
  'optimizer' | 'accumulate' | 'inFlight' | 'staleness' | 'targetUpdates'
> & {
  readonly stages: 2 | 3 | 4
}

const allSchedules: readonly Schedule[] = [
  { stages: 2, inFlight: 2, accumulate: 1, staleness: 'none', optimizer: momentum, targetUpdates: 14 },
  { stages: 3, inFlight: 5, accumulate: 1, staleness: 'predict', optimizer: momentum, targetUpdates: 14 },
  { stages: 3, inFlight: 6, accumulate: 2, staleness: 'none', optimizer: adam, targetUpdates: 8 },
  { stages: 4, inFlight: 7, accumulate: 3, staleness: 'predict', optimizer: adamw, targetUpdates: 6 },
]

describe.each([
  { backend: 'wasm', seeds: [1, 2], schedules: allSchedules },
  // The same code on other kernels, and slower: the two hardest.
  { backend: 'cpu', seeds: [3], schedules: allSchedules.filter(({ staleness }) => staleness === 'predict') },
] as const)('an asynchronous run on tfjs $backend', ({ backend, seeds, schedules }) => {
  const opened = openEngines(backend, 4)

  const poolOf = ({ graph, cuts }: CutModel, { stages, ...schedule }: Schedule, seed: number) =>
    createPool(opened.engines, { ...schedule, graph, cuts: [cuts[stages]], seed })

  describe.each(Object.entries(models))('of a model with %s', (_what, model) => {
    it.each(schedules)(
      'equals one process whose gradients are as late, bit for bit: $stages stages, K $inFlight, A $accumulate, staleness $staleness, $optimizer.type',
      async (schedule) => {
        for (const seed of seeds) {
          const pool = await poolOf(model, schedule, seed)
          pool.start()
          await pool.train()
          expect(pool.members[0]!.stage.stats().maxStaleness).toBeGreaterThan(0)
          expect(differences(await pool.numbers(), await simulated(pool))).toEqual([])
          expect(pool.members.flatMap(({ refused }) => refused)).toEqual([])
        }
      },
    )
  })

  it('equals it also when it ends before its last update is full', async () => {
    const schedule = { ...allSchedules[2]!, targetUpdates: 1000, accumulate: 4 }
    const pool = await poolOf(convolutional, schedule, 3)
    const { events, stage } = pool.members[0]!
    const admitted = () => events.filter(({ type }) => type === 'forward').length
    pool.start()
    while (admitted() < 10) await pool.clock.advance(1)
    stage.finish()
    await pool.train()
    expect(events.at(-1)).toEqual({ type: 'update', version: 2, applied: true })
    expect(admitted()).toBe(10)
    expect(differences(await pool.numbers(), await simulated(pool))).toEqual([])
  })
})

describe('an asynchronous run on our own kernels', () => {
  const opened = openEngines('kernels', 4)
  // SGD: Adam turns the rounding of gradients that are zero into whole steps.
  const schedules = allSchedules.filter(({ optimizer }) => optimizer === momentum)
  const poolOf = ({ graph, cuts }: CutModel, { stages, ...schedule }: Schedule) =>
    createPool(opened.engines, { ...schedule, graph, cuts: [cuts[stages]], seed: 1 })
  const train = async (pool: Awaited<ReturnType<typeof poolOf>>) => {
    pool.start()
    await pool.train()
    return pool.numbers()
  }

  describe.each(Object.entries(models))('of a model with %s', (_what, model) => {
    it.each(schedules)(
      'nearly equals one process whose gradients are as late, and no other: $stages stages, staleness $staleness',
      async (schedule) => {
        const pool = await poolOf(model, schedule)
        const found = await train(pool)
        // Not bit for bit: the oracle's sums are TensorFlow.js's. A seed where no ReLU sits on the fence (reached: 6e-7).
        expect(furthest(found, await simulated(pool))).toBeLessThan(1e-5)
        const later = await train(await poolOf(model, { ...schedule, inFlight: schedule.inFlight + 1 }))
        expect(furthest(found, later)).toBeGreaterThan(1e-2)
      },
    )
  })
})
