/** Which rows of the data make each micro-batch. A pure function of the seed, so that root and leaf agree without a word. */
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import type { BatchRef } from '../../../shared/job/data.ts'
import { createRng, permutation, seedFrom } from '../../../shared/random.ts'

/** Which part of every epoch is this cluster's. */
interface Share {
  readonly index: number
  readonly of: number
}

/** Where a cluster stands in the data: [epoch, rows of its share of that epoch]. */
export type Cursor = readonly [epoch: number, rows: number]

export interface OrderSettings {
  readonly seed: number
  readonly trainSamples: number
  /** b: samples in a micro-batch. */
  readonly microBatch: number
  readonly share: Share
  /** What other clusters trained before, cut by cut: each one's cursors, in the order of its clusters. */
  readonly cuts?: readonly (readonly Cursor[])[]
}

/** Training micro-batch m = 0, 1, 2, … of one cluster. */
export interface BatchOrder {
  batch(microBatch: number): BatchRef
  /** B of it, without drawing the epoch's order where that is not touched by a cut. */
  size(microBatch: number): number
  /** Where the cluster stands when micro-batches [0, m) are trained. */
  cursorAt(microBatch: number): Cursor
}

/** A micro-batch's place: the share's rows [first, first + size) of an epoch. */
interface Place {
  readonly epoch: number
  readonly first: number
  readonly size: number
}

/**
 * Every epoch draws a permutation of the training rows from (seed, epoch). Share i of C takes its positions
 * i, i+C, i+2C, … and cuts them into micro-batches of b; what is left at the end of an epoch is one shorter
 * micro-batch, kept. So every row comes exactly once per epoch over all shares.
 *
 * After a cut only the rows are shared out that no cluster of it had trained, in the same order: so every row still
 * comes exactly once per epoch, however often the clusters change and however unlike their pace is.
 *
 * Only the newest epoch's rows are kept (4 bytes a row): micro-batches are asked for in order.
 * @throws InvalidInputError when a share would be empty
 */
export function createBatchOrder({ cuts = [], ...settings }: OrderSettings): BatchOrder {
  const { seed, trainSamples, microBatch, share } = settings
  if (trainSamples - share.index < 1 || share.index < 0 || share.index >= share.of)
    throw new InvalidInputError(
      `${trainSamples} training samples are too few for ${share.of} clusters; add samples or use fewer clusters`,
    )
  let drawn: { readonly epoch: number; readonly rows: Uint32Array } | undefined
  const rowsOf = (epoch: number) => {
    if (drawn?.epoch !== epoch)
      drawn = {
        epoch,
        rows: restOf(permutation(createRng(seedFrom(seed, 'epoch', epoch)), trainSamples), epoch, cuts),
      }
    return drawn.rows
  }
  const lengthOf = (rows: number) => Math.ceil((rows - share.index) / share.of)
  const whole = lengthOf(trainSamples)
  // How many are left does not depend on which: no order needs to be drawn.
  const any = cuts.length === 0 ? new Uint32Array(0) : new Uint32Array(trainSamples)
  const touched = touchedEpochs(cuts).map((epoch) => ({
    epoch,
    length: lengthOf(restOf(any, epoch, cuts).length),
  }))
  const place = placesOf({ touched, next: nextEpoch(cuts), whole, microBatch })
  return {
    size: (index) => place(index).size,
    cursorAt(index) {
      const { epoch, first } = place(index)
      return [epoch, first]
    },
    batch(index) {
      const { epoch, first, size } = place(index)
      const rows = rowsOf(epoch)
      const row = (offset: number) => rows[share.index + (first + offset) * share.of] ?? 0
      return { epoch, rows: Uint32Array.from({ length: size }, (_, offset) => row(offset)) }
    },
  }
}

type Cuts = readonly (readonly Cursor[])[]

/** The rows of an epoch that no cluster of any cut has trained, in the order they came in. */
function restOf(rows: Uint32Array, epoch: number, cuts: Cuts): Uint32Array {
  return cuts.reduce((left, cursors) => {
    const isLeft = (position: number) => {
      const [reached, taken] = cursors[position % cursors.length] ?? [0, 0]
      return epoch > reached || (epoch === reached && Math.floor(position / cursors.length) >= taken)
    }
    return left.filter((_, position) => isLeft(position))
  }, rows)
}

/** From here on every epoch is whole. */
const nextEpoch = (cuts: Cuts): number =>
  cuts.flat().reduce((next, [epoch, rows]) => Math.max(next, rows > 0 ? epoch + 1 : epoch), 0)

/** What a slow cluster left of epochs further behind than this is given up: whole passes over the data make up for it. */
const mostTouched = 8

/** Epochs of which something may be left, and something is trained. */
function touchedEpochs(cuts: Cuts): number[] {
  const first = (cuts.at(-1) ?? []).reduce((least, [epoch]) => Math.min(least, epoch), Infinity)
  const next = nextEpoch(cuts)
  const count = Math.min(mostTouched, Math.max(0, next - first))
  return Array.from({ length: count }, (_, index) => next - count + index)
}

interface Lengths {
  /** Rows of the share that are left of each touched epoch. */
  readonly touched: readonly { readonly epoch: number; readonly length: number }[]
  /** The first whole epoch, and the share's rows in each of those. */
  readonly next: number
  readonly whole: number
  readonly microBatch: number
}

function placesOf({ touched, next, whole, microBatch }: Lengths): (index: number) => Place {
  const within = (epoch: number, length: number, index: number): Place => {
    const first = index * microBatch
    return { epoch, first, size: Math.min(microBatch, length - first) }
  }
  const perEpoch = Math.ceil(whole / microBatch)
  return (index) => {
    let left = index
    for (const { epoch, length } of touched) {
      const count = Math.ceil(length / microBatch)
      if (left < count) return within(epoch, length, left)
      left -= count
    }
    return within(next + Math.floor(left / perEpoch), whole, left % perEpoch)
  }
}

/** Cuts of epochs that are used up mean nothing any more. */
export function withCut(cuts: Cuts, cut: readonly Cursor[]): Cuts {
  const first = Math.min(...cut.map(([epoch]) => epoch))
  const meaning = (cursors: readonly Cursor[]) =>
    cursors.some(([epoch, rows]) => epoch > first || (epoch === first && rows > 0))
  return [...cuts.filter(meaning), cut]
}

/** Rows of begun epochs that were trained as `all` the cuts say, and are shared out again by those that are `kept`. */
export function rowsGivenAgain(trainSamples: number, all: Cuts, kept: Cuts): number {
  if (all.length === kept.length) return 0
  const positions = Uint32Array.from({ length: trainSamples }, (_, position) => position)
  return touchedEpochs(kept).reduce((sum, epoch) => {
    const left = new Set(restOf(positions, epoch, all))
    return sum + restOf(positions, epoch, kept).filter((position) => !left.has(position)).length
  }, 0)
}

export interface ValidationSettings {
  /** Validation rows come after the training rows. */
  readonly trainSamples: number
  readonly validationSamples: number
  readonly microBatch: number
}

/**
 * Validation micro-batch `index`, `size` samples long. The size travels with the activation, so that only the
 * root needs to know how many samples an evaluation has.
 */
export function validationBatch(settings: ValidationSettings, index: number, size: number): BatchRef {
  const first = index * settings.microBatch
  if (first + size > settings.validationSamples)
    throw new InvariantError(`validation rows ${first}..${first + size} are beyond the data`)
  return {
    epoch: 0,
    rows: Uint32Array.from({ length: size }, (_, offset) => settings.trainSamples + first + offset),
  }
}

/** The first `limit` validation samples, in order, as micro-batches; the last may be shorter. */
export function validationBatches(settings: ValidationSettings & { readonly limit: number }): BatchRef[] {
  const samples = Math.min(settings.limit, settings.validationSamples)
  const { microBatch } = settings
  return Array.from({ length: Math.ceil(samples / microBatch) }, (_, index) =>
    validationBatch(settings, index, Math.min(microBatch, samples - index * microBatch)),
  )
}
