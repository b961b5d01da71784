/** A small, real StageEngine in plain JavaScript floats (`stage-math.ts`): exact, repeatable, without any library. */
import type { Clock, ForwardRequest, StageEngine, StageSetup, StateVector } from '../../main/core/ports.ts'
import { type Codec, pack, unpack } from '../../shared/codec/codec.ts'
import { InvariantError } from '../../shared/errors.ts'
import type { LayerRange } from '../../shared/model/graph.ts'
import { layoutOfGraph, stateLayout } from '../../shared/model/layout.ts'
import { type HostTensor, floatTensor, floatsOf } from '../../shared/tensor.ts'
import type { Millis } from '../../shared/units.ts'
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
} from './stage-math.ts'

export interface FakeEngineSettings {
  /** Every call takes so long, drawn anew; default no time. */
  readonly clock?: Clock
  readonly delay?: () => Millis
}

interface Slot {
  readonly values: Float32Array
  readonly pass: Pass
}

interface Loaded {
  readonly setup: StageSetup
  readonly program: Program
  weights: Weights
  readonly slots: Map<number, Slot>
  readonly gathered: Float32Array
  count: number
}

export function createFakeEngine(settings: FakeEngineSettings = {}): StageEngine {
  return new FakeEngine(settings)
}

class FakeEngine implements StageEngine {
  readonly backend = 'fake'
  readonly #settings: FakeEngineSettings
  #stage: Loaded | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(settings: FakeEngineSettings) {
    this.#settings = settings
  }

  /** One call after another, in the order made. */
  #call<T>(work: (stage: Loaded) => T): Promise<T> {
    return this.#enqueue(() => {
      if (this.#stage === undefined) throw new InvariantError('no stage is loaded')
      return work(this.#stage)
    })
  }

  #enqueue<T>(work: () => T): Promise<T> {
    const { clock, delay } = this.#settings
    const result = this.#queue.then(async () => {
      if (clock !== undefined && delay !== undefined) await clock.sleep(delay())
      return work()
    })
    this.#queue = result.catch(() => undefined)
    return result
  }

  load(setup: StageSetup): Promise<void> {
    return this.#enqueue(() => {
      const program = programOf(setup.graph, setup.layers)
      const gathered = new Float32Array(program.layout.trainedLength)
      const weights = freshWeights(program, setup.optimizer)
      this.#stage = { setup, program, weights, slots: new Map(), gathered, count: 0 }
    })
  }

  #begin(stage: Loaded, { microBatch, input, predictUpdates }: ForwardRequest): Slot {
    if (stage.slots.has(microBatch)) throw new InvariantError(`micro-batch ${microBatch} is here already`)
    const values = predictAhead(stage.setup.optimizer, stage.weights, predictUpdates)
    const pass = runForward(stage.program, values, floatsOf(unpack(input)), true)
    const moved = stage.weights.values.slice()
    const { trainedLength } = stage.program.layout
    moved.set(pass.values.subarray(trainedLength), trainedLength)
    stage.weights = { ...stage.weights, values: moved }
    return { values, pass }
  }

  #gather(stage: Loaded, slot: Slot, gradient: Float32Array): Float32Array {
    const back = runBackward(stage.program, slot.values, slot.pass, gradient)
    const { gathered } = stage
    for (let at = 0; at < gathered.length; at++) gathered[at]! += back.gradient[at]!
    stage.count += 1
    return back.inputGradient
  }

  #inputGradient({ setup, program }: Loaded, gradient: Float32Array, codec: Codec): HostTensor | undefined {
    if (setup.layers[0] === 0) return undefined
    return pack(batchTensor(gradient, program.inputShape), codec)
  }

  forward(request: ForwardRequest): Promise<HostTensor> {
    return this.#call((stage) => {
      const slot = this.#begin(stage, request)
      stage.slots.set(request.microBatch, slot)
      return pack(batchTensor(slot.pass.output, stage.program.outputShape), request.codec ?? 'fp32')
    })
  }

  forwardLoss(request: ForwardRequest & { readonly labels: HostTensor }) {
    return this.#call((stage) => {
      const slot = this.#begin(stage, request)
      const { tally, gradient } = crossEntropy(slot.pass.output, intsOf(request.labels))
      const back = this.#gather(stage, slot, gradient)
      const inputGradient = this.#inputGradient(stage, back, request.codec ?? 'fp32')
      return { tally, inputGradient }
    })
  }

  backward(microBatch: number, gradient: HostTensor, codec: Codec = 'fp32'): Promise<HostTensor | undefined> {
    return this.#call((stage) => {
      const slot = stage.slots.get(microBatch)
      if (slot === undefined) throw new InvariantError(`micro-batch ${microBatch} was never forwarded`)
      stage.slots.delete(microBatch)
      return this.#inputGradient(stage, this.#gather(stage, slot, floatsOf(unpack(gradient))), codec)
    })
  }

  discard(microBatch: number): Promise<void> {
    return this.#call(({ slots }) => void slots.delete(microBatch))
  }

  update() {
    return this.#call((stage) => {
      const mean = stage.gathered.map((sum) => sum / stage.count)
      const gradientNorm = Math.sqrt(mean.reduce((sum, value) => sum + value * value, 0))
      const applied = Number.isFinite(gradientNorm)
      if (applied) stage.weights = applyUpdate(stage.setup.optimizer, stage.weights, mean)
      stage.gathered.fill(0)
      stage.count = 0
      return { applied, gradientNorm }
    })
  }

  infer(input: HostTensor): Promise<HostTensor> {
    return this.#call(({ program, weights }) => {
      const { output } = runForward(program, weights.values, floatsOf(unpack(input)), false)
      return batchTensor(output, program.outputShape)
    })
  }

  judge(input: HostTensor, labels: HostTensor) {
    return this.#call(({ program, weights }) => {
      const { output } = runForward(program, weights.values, floatsOf(unpack(input)), false)
      return crossEntropy(output, intsOf(labels)).tally
    })
  }

  readState(layers: LayerRange): Promise<StateVector> {
    return this.#call((stage) => {
      const places = placesOf(stage, layers)
      return { layers, values: Float32Array.from(places, (at) => stage.weights.values[at]!) }
    })
  }

  writeState({ layers, values }: StateVector): Promise<void> {
    return this.#change(layers, (_old, index) => values[index]!)
  }

  addToState({ layers, values }: StateVector): Promise<void> {
    return this.#change(layers, (old, index) => old + values[index]!)
  }

  #change(layers: LayerRange, to: (old: number, index: number) => number): Promise<void> {
    return this.#call((stage) => {
      const changed = stage.weights.values.slice()
      placesOf(stage, layers).forEach((at, index) => (changed[at] = to(changed[at]!, index)))
      stage.weights = { ...stage.weights, values: changed }
    })
  }

  readOptimizer() {
    return this.#call(({ weights }) => ({
      updates: weights.updates,
      moments: weights.moments.map((moment) => moment.slice()),
    }))
  }

  writeOptimizer({ updates, moments }: { updates: number; moments: readonly Float32Array[] }): Promise<void> {
    return this.#call((stage) => {
      stage.weights = { ...stage.weights, updates, moments: moments.map((moment) => moment.slice()) }
    })
  }

  /** `tensors`: micro-batches kept for their backward pass. */
  memory() {
    return this.#call(({ slots, weights }) => {
      const bytes = weights.values.byteLength * (1 + slots.size)
      return { tensors: slots.size, bytes, peakBytes: bytes }
    })
  }

  unload(): Promise<void> {
    return this.#enqueue(() => {
      this.#stage = undefined
    })
  }
}

function batchTensor(data: Float32Array, shape: readonly number[]): HostTensor {
  const width = shape.reduce((product, extent) => product * extent, 1)
  return floatTensor(data.slice(), [data.length / width, ...shape])
}

function intsOf({ data }: HostTensor): Int32Array {
  if (!(data instanceof Int32Array)) throw new InvariantError('labels are int32')
  return data
}

/** Indices in the stage's numbers of the numbers of a run of its layers. */
function placesOf({ setup, program }: Loaded, layers: LayerRange): number[] {
  const layouts = layoutOfGraph(setup.graph)
  const before = stateLayout(layouts, [setup.layers[0], layers[0]])
  const { trainedLength, length } = stateLayout(layouts, layers)
  const trained = Array.from({ length: trainedLength }, (_, index) => before.trainedLength + index)
  const untrainedFrom = program.layout.trainedLength + before.length - before.trainedLength
  return [...trained, ...Array.from({ length: length - trainedLength }, (_, index) => untrainedFrom + index)]
}
