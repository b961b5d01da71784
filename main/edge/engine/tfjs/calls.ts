/** The port's calls on a loaded stage: check what comes from outside, run the operation, read what goes out. */
import * as tf from '@tensorflow/tfjs'
import type { Tensor } from '@tensorflow/tfjs'
import { InvalidInputError, InvariantError } from '../../../../shared/errors.ts'
import type { Tally } from '../../../../shared/model/graph.ts'
import { type HostTensor, floatTensor } from '../../../../shared/tensor.ts'
import type { ForwardRequest, UpdateResult } from '../../../core/ports.ts'
import { checkIds, checked } from '../checks.ts'
import { download, upload } from './host-tensors.ts'
import { type Judgement, judgeOutput, judgementOf, tallyOf } from './losses.ts'
import * as passes from './stage.ts'
import type { Stage } from './stage.ts'
import type { StageShape } from './stage-shape.ts'

export async function forward(stage: Stage, request: ForwardRequest): Promise<HostTensor> {
  return take(stage, passes.forward(stage, arrivalOf(stage.shape, request)))
}

export async function forwardLoss(stage: Stage, request: ForwardRequest & { readonly labels: HostTensor }) {
  const judgement = judgementFor(stage.shape, request)
  const made = passes.forwardLoss(stage, arrivalOf(stage.shape, request), judgement)
  const [sums, inputGradient] = await Promise.all([
    take(stage, made.sums),
    made.inputGradient && take(stage, made.inputGradient),
  ])
  return { tally: tallyOf(judgement, sums.data), inputGradient }
}

export async function backward(
  stage: Stage,
  microBatch: number,
  gradient: HostTensor,
): Promise<HostTensor | undefined> {
  const { data, batch } = checked(gradient, {
    what: 'the gradient',
    dtype: 'float32',
    shape: stage.shape.outputShape,
  })
  const forwardBatch = stage.inFlight.get(microBatch)?.input.shape[0]
  if (forwardBatch !== undefined && forwardBatch !== batch)
    throw new InvalidInputError(`the gradient has ${batch} samples, but its forward pass had ${forwardBatch}`)
  const made = passes.backward(stage, microBatch, () => upload(data, gradient.shape))
  return made && take(stage, made)
}

export { discard } from './stage.ts'

export async function infer(stage: Stage, input: HostTensor): Promise<HostTensor> {
  const make = inputOf(stage.shape, input)
  return take(
    stage,
    stage.meter.run(() => tf.keep(passes.infer(stage, make()))),
  )
}

export async function judge(stage: Stage, input: HostTensor, labels: HostTensor): Promise<Tally> {
  const make = inputOf(stage.shape, input)
  const judgement = judgementFor(stage.shape, { input, labels })
  const sums = stage.meter.run(() => judgeOutput(judgement, passes.infer(stage, make())).sums)
  return tallyOf(judgement, (await take(stage, sums)).data)
}

/**
 * Apply the mean of what was gathered.
 *
 * A NaN or infinity anywhere in the gradient shows in its norm, so one number a parameter is read and no more;
 * so does a finite gradient whose norm is beyond float32, and it is dropped as well.
 */
export async function update(stage: Stage): Promise<UpdateResult> {
  const { meter, sum, updater, prediction } = stage
  if (sum.count === 0) throw new InvariantError('an update needs at least one micro-batch')
  const squares = meter.run(() => sum.squares())
  const each = squares === undefined ? new Float32Array() : (await take(stage, squares)).data
  const gradientNorm = Math.sqrt(each.reduce((total, square) => total + square, 0)) / sum.count
  if (!Number.isFinite(gradientNorm)) {
    meter.settle(() => { sum.clear() }) // prettier-ignore
    return { applied: false, gradientNorm }
  }
  meter.settle(() => { prediction.forget() }) // prettier-ignore
  meter.require(updater.bytesOfUpdate())
  meter.settle(() => { updater.step(gradientNorm) }) // prettier-ignore
  return { applied: true, gradientNorm }
}

/** A copy of a float32 tensor, which is disposed. */
async function take(stage: Stage, tensor: Tensor): Promise<HostTensor & { readonly data: Float32Array }> {
  const { shape } = tensor
  try {
    const data = await download(tensor)
    return { ...floatTensor(data, shape), data }
  } finally {
    stage.meter.settle(() => { tensor.dispose() }) // prettier-ignore
  }
}

function arrivalOf(shape: StageShape, { microBatch, predictUpdates, input }: ForwardRequest): passes.Arrival {
  if (!Number.isInteger(predictUpdates) || predictUpdates < 0)
    throw new InvariantError(`predictUpdates must be a whole number from 0, but is ${predictUpdates}`)
  return { microBatch, predictUpdates, input: inputOf(shape, input) }
}

/** Check a stage's input. @returns what makes its tensor @throws InvalidInputError */
function inputOf(stage: StageShape, input: HostTensor): () => Tensor {
  const { graph } = stage.setup
  const tokens = stage.isRoot && graph.input.type === 'tokens' ? graph.input : undefined
  const dtype = tokens ? 'int32' : 'float32'
  const { data } = checked(input, { what: 'the input', dtype, shape: stage.inputShape })
  if (tokens) checkIds(data, tokens.vocabulary)
  return () => upload(data, input.shape)
}

/** Check labels. @throws InvariantError when this is not the leaf; InvalidInputError */
function judgementFor(stage: StageShape, given: { input: HostTensor; labels: HostTensor }): Judgement {
  if (!stage.isLeaf) throw new InvariantError('only the leaf of a cluster judges')
  const [samples, labelled] = [given.input.shape[0], given.labels.shape[0]]
  if (samples !== labelled)
    throw new InvalidInputError(`there are labels for ${labelled} samples, but ${samples} samples`)
  return judgementOf(stage.setup.graph.loss, given.labels, stage.outputShape)
}
