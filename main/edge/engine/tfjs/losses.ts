/**
 * Losses with their gradients, and what is counted beside them.
 * N labels (B, or B·T), V classes; elements of the output for mean squared error.
 */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { InvalidInputError, InvariantError } from '../../../../shared/errors.ts'
import type { Loss, Tally } from '../../../../shared/model/graph.ts'
import type { HostTensor } from '../../../../shared/tensor.ts'
import { checked } from '../checks.ts'
import { upload } from './host-tensors.ts'

/** A loss against known labels. */
export interface Judgement {
  /** How many labels count; known before anything runs. */
  readonly labels: number
  /**
   * The mean loss, a scalar that tf's gradients follow. Call inside tf.tidy.
   *
   * @param output - [B, ...] of the last layer
   * @param onSums - takes [lossSum, correct, correctTop5], kept: the receiver disposes it
   */
  readonly meanOf: (output: Tensor, onSums: (sums: Tensor) => void) => Tensor
}

/**
 * Make labels ready: check them on the host, where they are, before the device sees any.
 *
 * @param outputShape - of the last layer, without the micro-batch axis
 * @throws InvalidInputError
 */
export function judgementOf(loss: Loss, labels: HostTensor, outputShape: readonly number[]): Judgement {
  if (loss.type === 'mean-squared-error') return squaredErrors(labels, outputShape)
  return crossEntropy(labels, outputShape, loss.ignoreLabel)
}

/** Judge an output and keep what was counted. Inside an operation. @returns the mean loss and [lossSum, correct, correctTop5] */
export function judgeOutput(judgement: Judgement, output: Tensor): { mean: Tensor; sums: Tensor } {
  const seen: Tensor[] = []
  const mean = judgement.meanOf(output, (sums) => void seen.push(sums))
  const [sums] = seen
  if (sums === undefined) throw new InvariantError('a loss counted nothing')
  return { mean, sums }
}

/** The tally of a judged output. @param sums - [lossSum, correct, correctTop5] */
export function tallyOf({ labels }: Judgement, sums: Float32Array): Tally {
  const [lossSum = 0, correct = 0, correctTop5 = 0] = sums
  return { lossSum, labels, correct, correctTop5 }
}

/** Rows of logits and what their labels say, on the host. */
interface Rows {
  /** Class of each row; 0 where the label is ignored. */
  readonly classes: Int32Array
  /** Where each row's own logit lies in the flat logits. */
  readonly places: Int32Array
  /** 1 where the label counts, else 0. */
  readonly counts: Float32Array
  readonly classCount: number
  readonly labels: number
}

/** [N] labels to rows. Logits are [N, V]. */
function rowsOf(labels: Float32Array | Int32Array, classCount: number, ignoreLabel: number): Rows {
  const classes = new Int32Array(labels.length)
  const places = new Int32Array(labels.length)
  const counts = new Float32Array(labels.length)
  let counted = 0
  labels.forEach((label, row) => {
    places[row] = row * classCount
    if (label === ignoreLabel) return
    if (label < 0 || label >= classCount)
      throw new InvalidInputError(`label ${label} is not one of the model's ${classCount} classes`)
    classes[row] = label
    places[row] = row * classCount + label
    counts[row] = 1
    counted += 1
  })
  return { classes, places, counts, classCount, labels: counted }
}

/** −log softmax(logits)[label], meaned over the labels that count; 0 with gradient 0 when none does. */
function crossEntropy(labels: HostTensor, outputShape: readonly number[], ignoreLabel: number): Judgement {
  const shape = outputShape.slice(0, -1)
  const { data } = checked(labels, { what: 'labels for cross-entropy', dtype: 'int32', shape })
  const rows = rowsOf(data, outputShape.at(-1) ?? 1, ignoreLabel)
  const divisor = Math.max(1, rows.labels)
  const meanOf: Judgement['meanOf'] = (output, onSums) => {
    const forward = (x: Tensor, save: Save) => {
      const counts = upload(rows.counts, [rows.counts.length]) // [N]
      const logits = tf.reshape(x, [-1, rows.classCount]) // [N, V]
      const shifted = tf.sub(logits, tf.max(logits, 1, true)) // [N, V], at most 0
      const powers = tf.exp(shifted)
      const total = tf.sum(powers, 1, true) // [N, 1]
      const own = tf.gather(tf.reshape(shifted, [-1]), upload(rows.places, [rows.places.length])) // [N]
      const lossSum = tf.sum(tf.mul(tf.sub(tf.log(tf.reshape(total, [-1])), own), counts))
      onSums(tf.keep(tf.stack([lossSum, ...hitsOf(shifted, own, { rows, counts })])))
      save([powers, total])
      return { value: tf.div(lossSum, divisor), gradFunc: backward }
    }
    /** (softmax − one-hot) / labels where the label counts, else 0. */
    const backward = (dy: Tensor, [powers, total]: [Tensor, Tensor]) => {
      // The forward's own tensors are gone by now: only what was saved lives.
      const share = tf.mul(tf.div(upload(rows.counts, [rows.counts.length, 1]), divisor), dy) // [N, 1]
      // Not tf.oneHot: the wasm backend 4.22 writes its float32 ones as the bits of the integer 1 (1.4e-45).
      const places = upload(rows.places, [rows.places.length, 1])
      const flat = [rows.places.length * rows.classCount] as [number]
      const wanted = tf.scatterND(places, tf.reshape(share, [-1]), flat) // [N·V]
      const guessed = tf.mul(tf.div(powers, total), share) // [N, V]
      return tf.reshape(tf.sub(tf.reshape(guessed, [-1]), wanted), output.shape)
    }
    return customLoss(forward, output)
  }
  return { labels: rows.labels, meanOf }
}

/**
 * How many labels that count are the first guess, and how many are among the first five.
 *
 * @param shifted - [N, V] logits, each row less its largest
 * @param own - [N] the label's own
 */
function hitsOf(shifted: Tensor, own: Tensor, of: { rows: Rows; counts: Tensor }): readonly [Tensor, Tensor] {
  const best = tf.equal(tf.argMax(shifted, 1), upload(of.rows.classes, [of.rows.classes.length])) // [N]
  const above = tf.sum(tf.cast(tf.greater(shifted, tf.reshape(own, [-1, 1])), 'float32'), 1) // [N]
  const sumOver = (hits: Tensor) => tf.sum(tf.mul(tf.cast(hits, 'float32'), of.counts))
  return [sumOver(best), sumOver(tf.less(above, 5))]
}

/** (output − target)², meaned over all elements. */
function squaredErrors(targets: HostTensor, outputShape: readonly number[]): Judgement {
  const shape = outputShape
  const { data } = checked(targets, { what: 'targets for mean squared error', dtype: 'float32', shape })
  const meanOf: Judgement['meanOf'] = (output, onSums) => {
    const forward = (x: Tensor, save: Save) => {
      const error = tf.sub(x, upload(data, output.shape))
      const lossSum = tf.sum(tf.square(error))
      onSums(tf.keep(tf.stack([lossSum, tf.scalar(0), tf.scalar(0)])))
      save([error])
      return { value: tf.div(lossSum, data.length), gradFunc: backward }
    }
    const backward = (dy: Tensor, [error]: [Tensor]) => tf.mul(error, tf.mul(dy, 2 / data.length))
    return customLoss(forward, output)
  }
  return { labels: data.length, meanOf }
}

type Save = (tensors: Tensor[]) => void

/** Value of a loss and how it goes back; `saved` is what the forward saved. */
type LossForward<Saved extends Tensor[]> = (
  x: Tensor,
  save: Save,
) => { value: Tensor; gradFunc: (dy: Tensor, saved: Saved) => Tensor }

/** tf.customGrad of one tensor; its own type leaves `save` and what was saved untyped. */
function customLoss<Saved extends Tensor[]>(forward: LossForward<Saved>, x: Tensor): Tensor {
  return tf.customGrad(forward as unknown as Parameters<typeof tf.customGrad>[0])(x)
}
