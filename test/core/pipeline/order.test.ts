import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createBatchOrder,
  type Cursor,
  rowsGivenAgain,
  withCut,
  validationBatch,
  validationBatches,
} from '../../../main/core/pipeline/order.ts'
import { InvalidInputError } from '../../../shared/errors.ts'

const shapes = fc
  .record({
    seed: fc.nat(),
    of: fc.integer({ min: 1, max: 5 }),
    more: fc.nat({ max: 60 }),
    microBatch: fc.integer({ min: 1, max: 9 }),
    epoch: fc.nat({ max: 3 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, trainSamples: rest.of + more }))

describe('the order of a job’s samples', () => {
  it('brings every row once per epoch over all shares, whatever does not divide', () => {
    fc.assert(
      fc.property(shapes, ({ seed, of, trainSamples, microBatch, epoch }) => {
        const rows = Array.from({ length: of }, (_, index) => {
          const order = createBatchOrder({ seed, trainSamples, microBatch, share: { index, of } })
          const perEpoch = Math.ceil(Math.ceil((trainSamples - index) / of) / microBatch)
          return Array.from({ length: perEpoch }, (_, m) => order.batch(epoch * perEpoch + m)).flatMap(
            (batch) => [...batch.rows],
          )
        })
        expect(rows.flat().sort((a, b) => a - b)).toEqual(
          Array.from({ length: trainSamples }, (_, row) => row),
        )
      }),
    )
  })

  it('names the epoch, tells sizes without drawing, and keeps only the last micro-batch of an epoch short', () => {
    const order = createBatchOrder({ seed: 3, trainSamples: 11, microBatch: 2, share: { index: 0, of: 2 } })
    const batches = [0, 1, 2, 3, 4, 5].map((m) => order.batch(m))
    expect(batches.map(({ rows, epoch }) => [rows.length, epoch])).toEqual([
      ...[2, 2, 2].map((size) => [size, 0]),
      ...[2, 2, 2].map((size) => [size, 1]),
    ])
    const other = createBatchOrder({ seed: 3, trainSamples: 11, microBatch: 2, share: { index: 1, of: 2 } })
    expect([0, 1, 2, 3].map((m) => other.size(m))).toEqual([2, 2, 1, 2])
    expect(batches.map(({ rows }) => rows.length)).toEqual([0, 1, 2, 3, 4, 5].map((m) => order.size(m)))
  })

  it('is the same for root and leaf whatever each asked before, and another in every epoch and for every seed', () => {
    const settings = { trainSamples: 40, microBatch: 40, share: { index: 0, of: 1 } }
    const root = createBatchOrder({ seed: 5, ...settings })
    const leaf = createBatchOrder({ seed: 5, ...settings })
    leaf.batch(7)
    expect(leaf.batch(1)).toEqual(root.batch(1))
    expect(root.batch(0).rows).not.toEqual(root.batch(1).rows)
    expect(createBatchOrder({ seed: 6, ...settings }).batch(0).rows).not.toEqual(root.batch(0).rows)
  })

  it('refuses a share without samples', () => {
    const settings = { seed: 0, trainSamples: 2, microBatch: 4, share: { index: 2, of: 3 } }
    expect(() => createBatchOrder(settings)).toThrow(InvalidInputError)
  })
})

describe('the validation rows', () => {
  it('come after the training rows, in order, up to the limit or the end', () => {
    const settings = { trainSamples: 100, validationSamples: 7, microBatch: 3 }
    const rows = (limit: number) => validationBatches({ ...settings, limit }).map((batch) => [...batch.rows])
    expect(rows(5)).toEqual([
      [100, 101, 102],
      [103, 104],
    ])
    expect(rows(99)).toEqual([[100, 101, 102], [103, 104, 105], [106]])
    expect(rows(0)).toEqual([])
    expect([...validationBatch(settings, 2, 1).rows]).toEqual([106])
  })
})

describe('an order after a cut', () => {
  const setup = { seed: 3, trainSamples: 96, microBatch: 4 }
  type Cuts = readonly (readonly Cursor[])[]
  const ordersOf = (of: number, cuts: Cuts) =>
    Array.from({ length: of }, (_, index) => createBatchOrder({ ...setup, share: { index, of }, cuts }))

  interface Step {
    /** Micro-batches that each cluster trains under this plan. */
    readonly trains: readonly number[]
  }
  /** Every row that was trained, by epoch, over plans with other clusters each. */
  function train(steps: readonly Step[]) {
    const seen = new Map<number, number[]>()
    let cuts: Cuts = []
    for (const { trains } of steps) {
      const orders = ordersOf(trains.length, cuts)
      for (const [index, order] of orders.entries())
        for (let m = 0; m < trains[index]!; m++) {
          const { epoch, rows } = order.batch(m)
          expect(rows).toHaveLength(order.size(m))
          seen.set(epoch, [...(seen.get(epoch) ?? []), ...rows])
        }
      cuts = withCut(
        cuts,
        orders.map((order, index) => order.cursorAt(trains[index]!)),
      )
    }
    return { seen, cuts }
  }
  const all = Array.from({ length: 96 }, (_, row) => row)

  it('brings what is left of the epoch, each row once, to other clusters', () => {
    // Two clusters at unlike pace train 9 of 12 and 3 of 12 micro-batches; three train the other 48 rows in 4 each.
    const { seen } = train([{ trains: [9, 3] }, { trains: [4, 4, 4] }])
    expect([...seen.keys()]).toEqual([0])
    expect(seen.get(0)!.sort((a, b) => a - b)).toEqual(all)
  })

  it('tells how many rows come twice where the oldest cuts are forgotten', () => {
    const { seen, cuts } = train([{ trains: [3, 1] }, { trains: [2, 2, 2] }, { trains: [4] }])
    expect(cuts).toHaveLength(3)
    expect(rowsGivenAgain(96, cuts, cuts)).toBe(0)
    for (const kept of [cuts.slice(-2), cuts.slice(-1)]) {
      const [rest] = ordersOf(1, kept)
      const given: number[] = []
      for (let m = 0; rest!.batch(m).epoch === 0; m++) given.push(...rest!.batch(m).rows)
      const twice = given.filter((row) => seen.get(0)!.includes(row)).length
      expect(twice).toBeGreaterThan(0)
      expect(rowsGivenAgain(96, cuts, kept)).toBe(twice)
    }
  })

  it('never brings a row twice in an epoch, whoever trains how much under however many plans', () => {
    const steps = fc.array(
      fc.record({ trains: fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 4 }) }),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(steps, (plans) => {
        const { seen, cuts } = train(plans)
        for (const rows of seen.values()) expect(new Set(rows).size).toBe(rows.length)
        // What is left comes before the next epoch: one cluster, as long as it takes.
        const [rest] = ordersOf(1, cuts)
        const last = Math.max(0, ...seen.keys())
        for (let m = 0; rest!.batch(m).epoch <= last; m++) {
          const { epoch, rows } = rest!.batch(m)
          seen.set(epoch, [...(seen.get(epoch) ?? []), ...rows])
        }
        for (const rows of seen.values()) expect(rows.sort((a, b) => a - b)).toEqual(all)
      }),
    )
  })

  it('forgets cuts of epochs that are used up', () => {
    const { cuts } = train([{ trains: [12, 12] }, { trains: [24] }, { trains: [5] }])
    expect(cuts).toEqual([[[2, 20]]])
  })

  it('gives up what a cluster left that is many epochs behind', () => {
    const cuts: Cuts = [[[0, 4], [40, 0]]] // prettier-ignore
    const [order] = ordersOf(1, cuts)
    expect(order!.batch(0).epoch).toBe(32)
  })
})
