import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BatchOrder,
  createBatchOrder,
  goOn,
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
          const first = epoch * order.microBatchesPerEpoch
          return Array.from({ length: order.microBatchesPerEpoch }, (_, m) => order.batch(first + m)).flatMap(
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

describe('an order that goes on', () => {
  const setup = { seed: 3, trainSamples: 96, microBatch: 4 }
  const ordersOf = (of: number, samples: number) =>
    Array.from({ length: of }, (_, index) =>
      goOn(createBatchOrder({ ...setup, share: { index, of } }), { samples }, { ...setup, clusters: of }),
    )
  const rowsOf = (orders: readonly BatchOrder[], microBatches: number) =>
    orders.flatMap((order) =>
      Array.from({ length: microBatches }, (_, m) => order.batch(m)).flatMap(({ rows }) => [...rows]),
    )

  it('brings the rest of the epoch, each row once, when other clusters train it', () => {
    // Two clusters trained 6 micro-batches each: half an epoch. Three clusters train the rest in 4 each.
    const before = rowsOf(ordersOf(2, 0), 6)
    const after = rowsOf(ordersOf(3, before.length), 4)
    expect([...before, ...after].sort((a, b) => a - b)).toEqual(Array.from({ length: 96 }, (_, row) => row))
  })

  it('goes on in the epoch that so many samples make', () => {
    const [order] = ordersOf(1, 96 * 2 + 8)
    expect(order!.batch(0)).toEqual(
      createBatchOrder({ ...setup, share: { index: 0, of: 1 } }).batch(24 * 2 + 2),
    )
    expect(order!.size(0)).toBe(4)
  })
})
