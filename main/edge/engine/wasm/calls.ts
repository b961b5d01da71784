/** The port's calls on a loaded stage: check what comes from outside, and run the operation. */
import { InvalidInputError, InvariantError } from '../../../../shared/errors.ts'
import type { Tally } from '../../../../shared/model/graph.ts'
import { type HostTensor, floatTensor } from '../../../../shared/tensor.ts'
import type { ForwardRequest } from '../../../core/ports.ts'
import { checkIds, checked } from '../checks.ts'
import { type Labels, labelsFor } from './losses.ts'
import * as passes from './stage.ts'
import type { Stage } from './stage.ts'
import type { StageShape } from './stage-shape.ts'

export function forward(stage: Stage, request: ForwardRequest): HostTensor {
  const arrival = arrivalOf(stage.shape, request)
  return floatTensor(passes.forward(stage, arrival), [arrival.batch, ...stage.shape.outputShape])
}

export function forwardLoss(stage: Stage, request: ForwardRequest & { readonly labels: HostTensor }) {
  const labels = judgedBy(stage.shape, request)
  const arrival = arrivalOf(stage.shape, request)
  const { tally, inputGradient } = passes.forwardLoss(stage, arrival, labels)
  return { tally, inputGradient: inputGradientOf(stage, arrival.batch, inputGradient) }
}

export function backward(stage: Stage, microBatch: number, gradient: HostTensor): HostTensor | undefined {
  const { data, batch } = checked(gradient, {
    what: 'the gradient',
    dtype: 'float32',
    shape: stage.shape.outputShape,
  })
  const forwardBatch = stage.inFlight.get(microBatch)?.batch
  if (forwardBatch !== undefined && forwardBatch !== batch)
    throw new InvalidInputError(`the gradient has ${batch} samples, but its forward pass had ${forwardBatch}`)
  return inputGradientOf(stage, batch, passes.backward(stage, microBatch, data))
}

export function infer(stage: Stage, input: HostTensor): HostTensor {
  const { data, batch } = inputOf(stage.shape, input)
  return floatTensor(passes.infer(stage, batch, data), [batch, ...stage.shape.outputShape])
}

export function judge(stage: Stage, input: HostTensor, labels: HostTensor): Tally {
  const { data, batch } = inputOf(stage.shape, input)
  return passes.judge(stage, { batch, input: data }, judgedBy(stage.shape, { input, labels }))
}

function inputGradientOf({ shape }: Stage, batch: number, gradient: Float32Array | undefined) {
  return gradient && floatTensor(gradient, [batch, ...shape.inputShape])
}

function arrivalOf(shape: StageShape, { microBatch, predictUpdates, input }: ForwardRequest): passes.Arrival {
  if (!Number.isInteger(predictUpdates) || predictUpdates < 0)
    throw new InvariantError(`predictUpdates must be a whole number from 0, but is ${predictUpdates}`)
  const { data, batch } = inputOf(shape, input)
  return { microBatch, predictUpdates, batch, input: data }
}

/** @throws InvalidInputError when it is not what the stage takes */
function inputOf(stage: StageShape, input: HostTensor) {
  const { graph } = stage.setup
  const tokens = stage.isRoot && graph.input.type === 'tokens' ? graph.input : undefined
  const dtype = tokens ? 'int32' : 'float32'
  const found = checked(input, { what: 'the input', dtype, shape: stage.inputShape })
  if (tokens) checkIds(found.data, tokens.vocabulary)
  return found
}

/** Check labels. @throws InvariantError when this is not the leaf; InvalidInputError */
function judgedBy(stage: StageShape, given: { input: HostTensor; labels: HostTensor }): Labels {
  if (!stage.isLeaf) throw new InvariantError('only the leaf of a cluster judges')
  const [samples, labelled] = [given.input.shape[0], given.labels.shape[0]]
  if (samples !== labelled)
    throw new InvalidInputError(`there are labels for ${labelled} samples, but ${samples} samples`)
  return labelsFor(stage.setup.graph.loss, given.labels, stage.outputShape)
}
