/** One process that repeats a pipeline's recorded run with nothing but arrays of past weights: the oracle of the exact tests. */
import type { BatchSource } from '../../../main/core/ports.ts'
import type { StageEvent } from '../../../main/core/pipeline/assignment.ts'
import { createFakeBatches } from '../../fakes/batches.ts'
import {
  type Pass,
  type Program,
  type Weights,
  applyUpdate,
  crossEntropy,
  freshWeights,
  predictAhead,
  programOf,
  runBackward,
  runForward,
} from '../../fakes/stage-math.ts'
import { type Pool, type PoolMember, classes, features, initialNumbers } from './pool.ts'

interface Replayed {
  readonly program: Program
  /** Weights after 0, 1, 2, … updates. */
  readonly history: Weights[]
  readonly passes: Map<number, { readonly pass: Pass; readonly values: Float32Array }>
  /** What each micro-batch's backward pass gave the stage before. */
  readonly inputGradients: Map<number, Float32Array>
  gathered: Float32Array[]
}

/**
 * Every gradient is taken at the weights of its own forward pass: those after the recorded number of updates, moved on
 * by the recorded prediction. Nothing of pipeline or engine state takes part.
 * @returns all numbers of the trained stages, stage after stage
 */
export async function replay({ settings, events, ofCluster }: Pool): Promise<number[]> {
  const { graph, optimizer, seed } = settings
  const members = ofCluster(0)
  const batches = createFakeBatches({ seed, shape: [features], classes })
  const stages = members.map(({ assignment: { layers } }): Replayed => {
    const program = programOf(graph, layers)
    const weights = { ...freshWeights(program, optimizer), values: initialNumbers(graph, seed, layers) }
    return { program, history: [weights], passes: new Map(), inputGradients: new Map(), gathered: [] }
  })
  for (const { peer, event } of events) {
    const index = members.findIndex((member) => member.peer === peer)
    await repeat({ event, index, members, stages, batches, settings })
  }
  return stages.flatMap(({ history }) => [...history.at(-1)!.values])
}

interface Step {
  readonly event: StageEvent
  readonly index: number
  readonly members: readonly PoolMember[]
  readonly stages: readonly Replayed[]
  readonly batches: BatchSource
  readonly settings: Pool['settings']
}

async function repeat(step: Step): Promise<void> {
  const { event, index, stages, settings } = step
  const stage = stages[index]!
  if (event.type === 'forward') await repeatForward(step, event)
  else if (event.type === 'backward') await repeatBackward(step, event.microBatch)
  else {
    const { gathered } = stage
    const sum = new Float32Array(stage.program.layout.trainedLength)
    for (const gradient of gathered) gradient.forEach((value, at) => (sum[at]! += value))
    const mean = sum.map((value) => value / gathered.length)
    stage.history.push(applyUpdate(settings.optimizer, stage.history.at(-1)!, mean))
    stage.gathered = []
  }
}

async function repeatForward(
  { index, members, stages, batches, settings }: Step,
  { microBatch, version, predict }: Extract<StageEvent, { type: 'forward' }>,
): Promise<void> {
  const { program, history, passes } = stages[index]!
  const batch = members[index]!.assignment.order.batch(microBatch)
  const input =
    index === 0
      ? ((await batches.inputs(batch)).data as Float32Array)
      : stages[index - 1]!.passes.get(microBatch)!.pass.output
  const values = predictAhead(settings.optimizer, history[version]!, predict)
  passes.set(microBatch, { pass: runForward(program, values, input, true), values })
}

async function repeatBackward({ index, members, stages, batches }: Step, microBatch: number): Promise<void> {
  const stage = stages[index]!
  const { pass, values } = stage.passes.get(microBatch)!
  const batch = members[index]!.assignment.order.batch(microBatch)
  const isLeaf = index === stages.length - 1
  const gradient = isLeaf
    ? crossEntropy(pass.output, (await batches.labels(batch)).data as Int32Array).gradient
    : stages[index + 1]!.inputGradients.get(microBatch)!
  const back = runBackward(stage.program, values, pass, gradient)
  stage.inputGradients.set(microBatch, back.inputGradient)
  stage.gathered.push(back.gradient)
}
