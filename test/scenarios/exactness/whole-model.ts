/** The gradient of a whole, uncut model by all its weights at once, by TensorFlow.js's own automatic differentiation. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { type BatchStatistics, type RunMode, runLayers } from '../../../main/edge/engine/tfjs/layers/run.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import type { HostTensor } from '../../../shared/tensor.ts'
import { type Numbers, layoutOf } from './numbers.ts'

/** A micro-batch and the chance of its dropout. */
export interface WholeBatch {
  readonly input: HostTensor
  readonly labels: HostTensor
  readonly dropoutSeed: number
}

/** What batch norm saw of it: by the name of the running number that follows it. */
export interface Seen {
  readonly name: string
  readonly values: Float32Array
  readonly momentum: number
}

/** @param weights - every trained parameter of the model, whatever versions they are of */
export function slopesAt(graph: ModelGraph, weights: Numbers, batch: WholeBatch) {
  const { trained } = layoutOf(graph)
  const names = trained.map(({ name }) => name)
  const statistics: BatchStatistics[] = []
  const slopes = tf.tidy(() => {
    const input = tensorOf(batch.input)
    const run = (given: readonly Tensor[], more: Pick<RunMode, 'onBatchStatistics'> = {}) => {
      const parameters = new Map(names.map((name, index) => [name, given[index]!]))
      return runLayers(graph.layers, parameters, input, { training: true, dropoutSeed: batch.dropoutSeed, ...more }) // prettier-ignore
    }
    const tensors = trained.map(({ name, shape }) => tf.tensor(weights.get(name)!, [...shape]))
    const logits = run(tensors, { onBatchStatistics: (one) => void statistics.push(one) })
    const slope = lossSlope(logits, batch.labels.data)
    const gradients = tf.grads((...given: Tensor[]) => run(given))(tensors, slope)
    return gradients.map(take)
  })
  return {
    slopes: new Map(names.map((name, index) => [name, slopes[index]!])),
    seen: statistics.flatMap(seenIn),
  }
}

/** Gradient of the mean cross-entropy by the logits: (softmax − one-hot) / labels. */
function lossSlope(logits: Tensor, labels: HostTensor['data']): Tensor {
  const classes = logits.shape.at(-1)!
  const rows = tf.reshape(logits, [-1, classes])
  const powers = tf.exp(tf.sub(rows, tf.max(rows, 1, true)))
  const guessed = tf.mul(tf.div(powers, tf.sum(powers, 1, true)), 1 / labels.length)
  const wanted = new Float32Array(labels.length * classes)
  labels.forEach((label, row) => (wanted[row * classes + label] = 1 / labels.length))
  return tf.reshape(tf.sub(guessed, tf.tensor(wanted, [labels.length, classes])), logits.shape)
}

function seenIn({ meanName, mean, varianceName, variance, momentum }: BatchStatistics): Seen[] {
  const seen = [
    { name: meanName, values: take(mean), momentum },
    { name: varianceName, values: take(variance), momentum },
  ]
  tf.dispose([mean, variance])
  return seen
}

const take = (tensor: Tensor) => (tensor.dataSync() as Float32Array).slice()

const tensorOf = ({ data, shape, dtype }: HostTensor) =>
  tf.tensor(data.slice(), [...shape], dtype === 'int32' ? 'int32' : 'float32')
