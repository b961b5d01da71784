/** The StageEngine port on our own WebAssembly kernels, in the calling thread. */
import { InvariantError } from '../../../../shared/errors.ts'
import type { StageEngine, StageSetup } from '../../../core/ports.ts'
import { withCodecs } from '../codecs.ts'
import * as calls from './calls.ts'
import { quickerWidth } from './kernel-module.ts'
import type { KernelWidth } from './kernels.ts'
import { createHeap } from './memory/heap.ts'
import { type Stage, createStage, discard } from './stage.ts'
import { stageShape } from './stage-shape.ts'
import { type ThreadPool, createThreadPool } from './thread-pool.ts'
import { readOptimizer, readState, writeOptimizer, writeState } from './state.ts'

export interface WasmEngineSettings {
  /** Which kernels; auto: those that a probe finds quicker. */
  readonly kernels: KernelWidth | 'auto'
  /** How many threads compute, this one included. */
  readonly threads: number
}

/** A stage, and who computes it. */
interface Loaded {
  readonly stage: Stage
  readonly pool: ThreadPool
}

export function createWasmEngine(settings: WasmEngineSettings): StageEngine {
  const width = settings.kernels === 'auto' ? quickerWidth() : settings.kernels
  const inOrder = createQueue()
  let loaded: Loaded | undefined
  const unload = () => {
    loaded?.pool.stop()
    loaded = undefined
  }
  const withStage = <T>(work: (stage: Stage) => T): Promise<T> =>
    inOrder(() => {
      if (loaded === undefined) throw new InvariantError('no stage is loaded in this engine')
      return work(loaded.stage)
    })
  return withCodecs({
    backend: `kernels-${width}`,
    load: (setup) =>
      inOrder(async () => {
        unload()
        loaded = await build(setup, width, settings.threads)
      }),
    forward: (request) => withStage((stage) => calls.forward(stage, request)),
    forwardLoss: (request) => withStage((stage) => calls.forwardLoss(stage, request)),
    backward: (microBatch, gradient) => withStage((stage) => calls.backward(stage, microBatch, gradient)),
    discard: (microBatch) => withStage((stage) => { discard(stage, microBatch) }), // prettier-ignore
    update: () => withStage((stage) => stage.updater.update()),
    infer: (input) => withStage((stage) => calls.infer(stage, input)),
    judge: (input, labels) => withStage((stage) => calls.judge(stage, input, labels)),
    readState: (layers) => withStage((stage) => readState(stage, layers)),
    writeState: (state) => withStage((stage) => { writeState(stage, state, false) }), // prettier-ignore
    addToState: (state) => withStage((stage) => { writeState(stage, state, true) }), // prettier-ignore
    readOptimizer: () => withStage(readOptimizer),
    writeOptimizer: (state) => withStage((stage) => { writeOptimizer(stage, state) }), // prettier-ignore
    memory: () => inOrder(() => loaded?.stage.heap.read() ?? { tensors: 0, bytes: 0, peakBytes: 0 }),
    unload: () => inOrder(unload),
  })
}

/** A stage on a heap of its own: forgetting the stage gives all of it back. */
async function build(setup: StageSetup, width: KernelWidth, threads: number): Promise<Loaded> {
  const shape = stageShape(setup)
  const heap = createHeap(setup.memoryBudgetBytes)
  const pool = await createThreadPool(heap, width, { threads })
  try {
    return { stage: createStage(shape, heap, { run: pool.run, threads }), pool }
  } catch (thrown) {
    pool.stop()
    throw thrown
  }
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
