/** A model: what goes in, the layers in order, and how its output is judged. The JSON that users copy and change. */
import { z } from 'zod'
import { layer, layerBounds } from './layers.ts'

const extent = z.int().min(1).max(layerBounds.width)

/** What one sample is, without the micro-batch axis. */
export const modelInput = z.discriminatedUnion('type', [
  /** float32 values: [features] or [height, width, channels]. */
  z.strictObject({ type: z.literal('values'), shape: z.array(extent).min(1).max(4) }),
  /** int32 token ids [length]. */
  z.strictObject({
    type: z.literal('tokens'),
    length: z.int().min(1).max(layerBounds.length),
    vocabulary: z.int().min(2).max(layerBounds.vocabulary),
  }),
])

/**
 * Cross-entropy over the last axis against int32 labels, meaned over labels that are not `ignoreLabel`;
 * mean squared error over all elements against float32 targets of the output's shape.
 */
export const loss = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('cross-entropy'), ignoreLabel: z.int().default(-100) }),
  z.strictObject({ type: z.literal('mean-squared-error') }),
])
export type Loss = z.infer<typeof loss>

/** How samples become inputs and labels. */
export const task = z.enum([
  'classify', // the label is a class
  'regress', // the label is a vector of numbers
  'next-token', // the label of a position is the token after it
  'masked-token', // 15 % of the tokens are to be guessed; all other labels are ignored
])
export type Task = z.infer<typeof task>

/** A whole model. Top-level layers are the places where a plan may cut. */
export const modelGraph = z.strictObject({
  format: z.literal('rookery-model/1'),
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  task,
  input: modelInput,
  layers: z.array(layer).min(1).max(layerBounds.layers),
  loss,
})
export type ModelGraph = z.infer<typeof modelGraph>

/** A contiguous run of top-level layers: [from, to). */
export const layerRange = z.tuple([z.int().min(0), z.int().min(0)])
export type LayerRange = readonly [from: number, toExclusive: number]

/** What was measured on a number of samples. Sums, so that parts can be added; `scores` turns them into means. */
export const tally = z.strictObject({
  /** Sum over labels of the loss, in nats for cross-entropy. */
  lossSum: z.number(),
  /** Labels that count (not ignored), or elements for mean squared error. */
  labels: z.number().min(0),
  correct: z.number().min(0),
  /** Labels among the five best guesses. */
  correctTop5: z.number().min(0),
})
export type Tally = z.infer<typeof tally>

/** Means over a tally. */
export const scores = z.strictObject({
  loss: z.number(),
  accuracy: z.number(),
  top5: z.number(),
  /** exp(loss). */
  perplexity: z.number(),
})
export type Scores = z.infer<typeof scores>
