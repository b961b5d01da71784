/** The StageEngine port on TensorFlow.js, in the calling thread. */
import * as tf from '@tensorflow/tfjs'
import { InvariantError } from '../../../../shared/errors.ts'
import type { StageSetup } from '../../../core/ports.ts'
import { withCodecs } from '../codecs.ts'
import type { ServedEngine } from '../protocol.ts'
import type { BackendName } from './backend-names.ts'
import { openBackend } from './backends.ts'
import * as calls from './calls.ts'
import { createMemoryMeter } from './memory.ts'
import { type Stage, createStage, disposeStage } from './stage.ts'
import { stageShape } from './stage-shape.ts'
import { readOptimizer, readState, writeOptimizer, writeState } from './state.ts'
import { watchDevice } from './webgpu/device.ts'

export interface TfjsEngineSettings {
  /** All engines of a thread compute on the backend opened last. */
  readonly backend: BackendName | 'auto'
}

/** Openings one after the other: of two that overlap, TensorFlow.js lets only the later succeed. */
const opening = createQueue()

/** Open a backend in this thread and make an engine on it. @throws InvalidInputError when it does not open */
export async function createTfjsEngine(settings: TfjsEngineSettings): Promise<ServedEngine> {
  const name = await opening(() => openBackend(settings.backend))
  const device = name === 'webgpu' ? watchDevice() : undefined
  const queue = createQueue()
  const inOrder = <T>(work: () => T | Promise<T>): Promise<T> =>
    queue(device === undefined ? work : () => device.guard(work))
  let loaded: Stage | undefined
  const unload = () => {
    if (loaded !== undefined) disposeStage(loaded)
    loaded = undefined
  }
  const withStage = <T>(work: (stage: Stage) => T | Promise<T>): Promise<T> =>
    inOrder(() => {
      if (loaded === undefined) throw new InvariantError('no stage is loaded in this engine')
      return work(loaded)
    })
  return withCodecs({
    backend: `tfjs-${name}`,
    ...(device && { lost: device.lost }),
    load: (setup) =>
      inOrder(() => {
        unload()
        device?.limit(setup.memoryBudgetBytes)
        loaded = build(setup)
      }),
    forward: (request) => withStage((stage) => calls.forward(stage, request)),
    forwardLoss: (request) => withStage((stage) => calls.forwardLoss(stage, request)),
    backward: (microBatch, gradient) => withStage((stage) => calls.backward(stage, microBatch, gradient)),
    discard: (microBatch) => withStage((stage) => { calls.discard(stage, microBatch) }), // prettier-ignore
    update: () => withStage(calls.update),
    infer: (input) => withStage((stage) => calls.infer(stage, input)),
    judge: (input, labels) => withStage((stage) => calls.judge(stage, input, labels)),
    readState: (layers) => withStage((stage) => readState(stage, layers)),
    writeState: (state) => withStage((stage) => { writeState(stage, state, (_before, given) => given) }), // prettier-ignore
    addToState: (state) => withStage((stage) => { writeState(stage, state, tf.add) }), // prettier-ignore
    readOptimizer: () => withStage(readOptimizer),
    writeOptimizer: (state) => withStage((stage) => { writeOptimizer(stage, state) }), // prettier-ignore
    memory: () => inOrder(() => loaded?.meter.read() ?? { tensors: 0, bytes: 0, peakBytes: 0 }),
    unload: () => inOrder(unload),
  })
}

function build(setup: StageSetup): Stage {
  return createStage(stageShape(setup), createMemoryMeter(setup.memoryBudgetBytes))
}

/** Runs one job after the other, in the order given; one that fails does not stop the next. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}
