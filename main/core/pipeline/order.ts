/** Which rows of the data make each micro-batch. A pure function of the seed, so that root and leaf agree without a word. */
import { InvalidInputError, InvariantError } from '../../../shared/errors.ts'
import type { BatchRef } from '../../../shared/job/data.ts'
import { createRng, permutation, seedFrom } from '../../../shared/random.ts'

/** Which part of every epoch is this cluster's. */
interface Share {
  readonly index: number
  readonly of: number
}

export interface OrderSettings {
  readonly seed: number
  readonly trainSamples: number
  /** b: samples in a micro-batch. */
  readonly microBatch: number
  readonly share: Share
}

/** Training micro-batch m = 0, 1, 2, … of one cluster. */
export interface BatchOrder {
  readonly microBatchesPerEpoch: number
  batch(microBatch: number): BatchRef
  /** B of it, without drawing the epoch's order. */
  size(microBatch: number): number
}

/**
 * Every epoch draws a permutation of the training rows from (seed, epoch). Share i of C takes its positions
 * i, i+C, i+2C, … and cuts them into micro-batches of b; what is left at the end of an epoch is one shorter
 * micro-batch, kept. So every row comes exactly once per epoch over all shares.
 *
 * Only the newest epoch's permutation is kept (4 bytes a row): micro-batches are asked for in order.
 * @throws InvalidInputError when a share would be empty
 */
export function createBatchOrder({ seed, trainSamples, microBatch, share }: OrderSettings): BatchOrder {
  const shareLength = Math.ceil((trainSamples - share.index) / share.of)
  if (shareLength < 1 || share.index < 0 || share.index >= share.of)
    throw new InvalidInputError(
      `${trainSamples} training samples are too few for ${share.of} clusters; add samples or use fewer clusters`,
    )
  const microBatchesPerEpoch = Math.ceil(shareLength / microBatch)
  let drawn: { readonly epoch: number; readonly rows: Uint32Array } | undefined

  const epochRows = (epoch: number) => {
    if (drawn?.epoch !== epoch)
      drawn = { epoch, rows: permutation(createRng(seedFrom(seed, 'epoch', epoch)), trainSamples) }
    return drawn.rows
  }
  const firstOf = (index: number) => (index % microBatchesPerEpoch) * microBatch
  const size = (index: number) => Math.min(microBatch, shareLength - firstOf(index))
  return {
    microBatchesPerEpoch,
    size,
    batch(index) {
      const epoch = Math.floor(index / microBatchesPerEpoch)
      const rows = epochRows(epoch)
      const first = firstOf(index)
      return {
        epoch,
        rows: Uint32Array.from(
          { length: size(index) },
          (_, offset) => rows[share.index + (first + offset) * share.of] ?? 0,
        ),
      }
    },
  }
}

/**
 * The same order from where a job stands: its clusters together have trained so many samples, in as many epochs as
 * that makes, whatever clusters they were then. A part of a micro-batch at the border is trained again.
 */
export function goOn(
  order: BatchOrder,
  { samples }: { readonly samples: number },
  { trainSamples, microBatch, clusters }: { trainSamples: number; microBatch: number; clusters: number },
): BatchOrder {
  const epochs = Math.floor(samples / trainSamples)
  const within = Math.floor((samples % trainSamples) / (clusters * microBatch))
  const first = epochs * order.microBatchesPerEpoch + Math.min(within, order.microBatchesPerEpoch - 1)
  return {
    microBatchesPerEpoch: order.microBatchesPerEpoch,
    size: (index) => order.size(first + index),
    batch: (index) => order.batch(first + index),
  }
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
