/**
 * One loaded stage: what it holds in tensors, and the passes over it.
 *
 * A forward pass keeps its input and its version of the weights, and the backward pass runs the layers again
 * under TensorFlow.js's tape: a third more work than keeping the tape, but a micro-batch in flight then costs
 * one activation, not all of them.
 */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { InvariantError } from '../../../../shared/errors.ts'
import { seedFrom } from '../../../../shared/random.ts'
import { type GradientSum, createGradientSum } from './gradient-sum.ts'
import { type BatchStatistics, type RunMode, runLayers } from './layers/run.ts'
import { type Judgement, judgeOutput } from './losses.ts'
import type { MemoryMeter } from './memory.ts'
import { type Slopes, forwardPass, slopesOf } from './passes.ts'
import { type Prediction, createPrediction } from './prediction.ts'
import type { StageShape } from './stage-shape.ts'
import { type Updater, createUpdater } from './update.ts'
import { type Weights, type WeightVersion, createWeights, followStatistics } from './weights.ts'

/** What a loaded stage is made of. */
export interface Stage {
  readonly shape: StageShape
  readonly meter: MemoryMeter
  readonly weights: Weights
  readonly sum: GradientSum
  readonly updater: Updater
  readonly prediction: Prediction
  readonly inFlight: Map<number, InFlight>
}

/** What the backward pass of a micro-batch needs. */
interface InFlight {
  readonly input: Tensor
  readonly version: WeightVersion
}

/** A micro-batch that comes in. `input` makes its tensor, inside the operation. */
export interface Arrival {
  readonly microBatch: number
  readonly predictUpdates: number
  readonly input: () => Tensor
}

/** Build a stage, its weights zero. @throws DeviceMemoryError before anything is allocated */
export function createStage(shape: StageShape, meter: MemoryMeter): Stage {
  const { setup, layout, rule } = shape
  meter.require(shape.bytesAtRest)
  const sum = createGradientSum()
  const weights = meter.settle(() => createWeights(layout))
  const updater = meter.settle(() => createUpdater({ weights, sum, layout, rule, setup }))
  return {
    shape,
    meter,
    weights,
    sum,
    updater,
    prediction: createPrediction(weights, updater),
    inFlight: new Map(),
  }
}

/** Forward in training mode. @returns the output, the caller's @throws InvariantError when it is in flight already */
export function forward(stage: Stage, { microBatch, predictUpdates, input }: Arrival): Tensor {
  const { meter, weights, shape } = stage
  if (stage.inFlight.has(microBatch))
    throw new InvariantError(`micro-batch ${microBatch} is in flight already`)
  const version = meter.run(() => stage.prediction.at(predictUpdates))
  const statistics: BatchStatistics[] = []
  const made = meter.run(() => {
    const kept = tf.keep(input())
    const run = {
      layers: shape.layers,
      parameters: weights.parametersOf(version),
      mode: training(shape, microBatch, statistics),
    }
    return { input: kept, output: tf.keep(forwardPass(run, kept)) }
  })
  meter.settle(() => {
    followStatistics(weights, statistics)
    weights.hold(version)
  })
  stage.inFlight.set(microBatch, { input: made.input, version })
  return made.output
}

/** Forward, loss and backward. @returns [lossSum, correct, correctTop5] and the input's gradient, the caller's */
export function forwardLoss(
  stage: Stage,
  { microBatch, predictUpdates, input }: Arrival,
  judgement: Judgement,
) {
  const { meter, shape } = stage
  const version = meter.run(() => stage.prediction.at(predictUpdates))
  const statistics: BatchStatistics[] = []
  const made = meter.run(() => {
    const x = input()
    const parameters = stage.weights.parametersOf(version)
    const mode = training(shape, microBatch, statistics)
    const counted: Tensor[] = []
    const loss = () => {
      const { mean, sums } = judgeOutput(judgement, runLayers(shape.layers, parameters, x, mode))
      counted.push(sums)
      return mean
    }
    const sources = { input: shape.isRoot ? undefined : x, weights: version.trained }
    const slopes = keepSlopes(slopesOf(loss, sources))
    return { slopes, sums: counted[0] }
  })
  meter.settle(() => {
    gather(stage, made.slopes)
    followStatistics(stage.weights, statistics)
  })
  if (made.sums === undefined) throw new InvariantError('a loss counted nothing')
  return { sums: made.sums, inputGradient: made.slopes.input }
}

/** Backward at the weights of its forward. @returns the input's gradient, the caller's @throws InvariantError when it is not in flight */
export function backward(stage: Stage, microBatch: number, gradient: () => Tensor): Tensor | undefined {
  const { meter, shape } = stage
  const kept = stage.inFlight.get(microBatch)
  if (kept === undefined) throw new InvariantError(`micro-batch ${microBatch} is not in flight`)
  const slopes = meter.run(() => {
    const dy = gradient()
    const parameters = stage.weights.parametersOf(kept.version)
    const mode = training(shape, microBatch)
    const again = () => runLayers(shape.layers, parameters, kept.input, mode)
    const sources = { input: shape.isRoot ? undefined : kept.input, weights: kept.version.trained }
    return keepSlopes(slopesOf(again, sources, dy))
  })
  meter.settle(() => {
    gather(stage, slopes)
  })
  discard(stage, microBatch)
  return slopes.input
}

/** Forget a micro-batch, if it is in flight. */
export function discard(stage: Stage, microBatch: number): void {
  const kept = stage.inFlight.get(microBatch)
  if (kept === undefined) return
  stage.inFlight.delete(microBatch)
  stage.meter.settle(() => {
    kept.input.dispose()
    stage.weights.release(kept.version)
  })
}

/** Forward in evaluation mode at the newest weights, inside an operation. */
export function infer({ shape, weights }: Stage, input: Tensor): Tensor {
  const parameters = weights.parametersOf(weights.newest)
  return forwardPass({ layers: shape.layers, parameters, mode: { training: false, dropoutSeed: 0 } }, input)
}

/** Dispose all that a stage holds. */
export function disposeStage(stage: Stage): void {
  for (const microBatch of [...stage.inFlight.keys()]) discard(stage, microBatch)
  stage.meter.settle(() => {
    stage.sum.clear()
    stage.updater.dispose()
    stage.weights.dispose()
  })
}

/** Without a place for statistics batch norm tells nothing: running statistics move once a micro-batch. */
function training({ setup }: StageShape, microBatch: number, statistics?: BatchStatistics[]): RunMode {
  const mode = { training: true, dropoutSeed: seedFrom(setup.seed, microBatch) }
  return statistics ? { ...mode, onBatchStatistics: (update) => void statistics.push(update) } : mode
}

/** Beyond the operation's scope. The input's gradient is cloned: it may be a tensor that is someone else's too. */
function keepSlopes({ input, weights }: Slopes): Slopes {
  for (const gradient of weights.values()) tf.keep(gradient)
  return { input: input && tf.keep(tf.clone(input)), weights }
}

/** Add a micro-batch's gradient; disposes it. */
function gather({ sum }: Stage, { weights }: Slopes): void {
  sum.add(weights)
  tf.dispose([...weights.values()])
}
