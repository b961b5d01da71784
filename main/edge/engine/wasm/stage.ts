/**
 * One loaded stage: what it holds in its heap, and the passes over it.
 *
 * A micro-batch in flight has a slot with all that its backward pass needs. Where the plan says so, or the budget leaves
 * no room for it, only the input is kept, and the backward pass runs the layers again: a third more work, the same numbers.
 */
import { InvariantError } from '../../../../shared/errors.ts'
import type { Tally } from '../../../../shared/model/graph.ts'
import { seedFrom } from '../../../../shared/random.ts'
import { bytesPerFloat } from '../../../../shared/units.ts'
import type { Labels } from './losses.ts'
import { type Block, type Heap, allocateZeros } from './memory/heap.ts'
import { type Bases, type Compute, type Wire, runSteps } from './plan.ts'
import { type Program, type Programs, createPrograms } from './programs.ts'
import type { StageShape } from './stage-shape.ts'
import { type Updater, createUpdater } from './updater.ts'
import { type Weights, type WeightVersion, createWeights } from './weights.ts'

/** Elements as they come in: floats, or ids. */
export type Elements = Float32Array | Int32Array

export interface Stage {
  readonly shape: StageShape
  readonly heap: Heap
  readonly programs: Programs
  readonly weights: Weights
  readonly updater: Updater
  /** Untrained numbers. */
  readonly running: Block
  readonly inFlight: Map<number, InFlight>
}

/** What the backward pass of a micro-batch needs. */
interface InFlight {
  readonly batch: number
  readonly version: WeightVersion
  /** The whole slot, or its input alone. */
  readonly kept: Block
  readonly whole: boolean
}

/** A micro-batch that comes in. */
export interface Arrival {
  readonly microBatch: number
  readonly predictUpdates: number
  readonly batch: number
  readonly input: Elements
}

/** Build a stage, its weights zero. @throws DeviceMemoryError */
export function createStage(shape: StageShape, heap: Heap, compute: Compute): Stage {
  const { run } = compute
  const { layout } = shape
  const weights = createWeights(heap, layout.trainedLength)
  return {
    ...{ shape, heap, weights },
    programs: createPrograms(shape, heap, compute),
    updater: createUpdater({ shape, heap, run, weights }),
    running: allocateZeros(heap, (layout.length - layout.trainedLength) * bytesPerFloat),
    inFlight: new Map(),
  }
}

/** Forward in training mode. @throws InvariantError when it is in flight already; DeviceMemoryError */
export function forward(stage: Stage, arrival: Arrival): Float32Array {
  const { heap, weights, inFlight } = stage
  const { microBatch, batch } = arrival
  if (inFlight.has(microBatch)) throw new InvariantError(`micro-batch ${microBatch} is in flight already`)
  const program = stage.programs.of('pass', batch)
  const version = stage.updater.at(arrival.predictUpdates)
  const slot = heap.allocate(program.plan.slotBytes)
  const bases = basesOf(stage, { version, slot, work: undefined, microBatch })
  write(heap, program.input, bases, arrival.input)
  runSteps(program.plan.forward, bases)
  runSteps(program.plan.settle, bases)
  const output = read(heap, program.output, bases)
  weights.hold(version)
  inFlight.set(microBatch, { batch, version, ...keptOf(stage, program, slot) })
  return output
}

/** Keep the slot where it may stay, else its input alone. */
function keptOf({ heap, weights, shape }: Stage, { plan, input }: Program, slot: Block) {
  // What else has to find room while this micro-batch is in flight: the passes of others, and an update.
  const others = () => plan.slotBytes + plan.workBytes + weights.bytesOfAdvance()
  const { recompute = !heap.fits(others()) } = shape.setup
  if (!recompute) return { kept: slot, whole: true }
  const inputs = heap.floats(slot.address + input.offset, input.length).slice()
  heap.free(slot)
  const kept = heap.allocate(input.length * bytesPerFloat)
  heap.floats(kept.address, input.length).set(inputs)
  return { kept, whole: false }
}

/** Forward, loss and backward in one go. */
export function forwardLoss(stage: Stage, arrival: Arrival, labels: Labels) {
  const program = stage.programs.of('loss', arrival.batch)
  const version = stage.updater.at(arrival.predictUpdates)
  return within(stage, program, (slot, work) => {
    const bases = basesOf(stage, { version, slot, work, microBatch: arrival.microBatch })
    write(stage.heap, program.input, bases, arrival.input)
    runSteps(program.plan.forward, bases)
    const tally = judged(stage, program, { bases, labels })
    runSteps(program.plan.settle, bases)
    runSteps(program.plan.backward, bases)
    stage.updater.gathered()
    const { inputGradient } = program
    return { tally, inputGradient: inputGradient && read(stage.heap, inputGradient, bases) }
  })
}

/** Backward at the weights of its forward. @throws InvariantError when it is not in flight; DeviceMemoryError */
export function backward(stage: Stage, microBatch: number, gradient: Elements): Float32Array | undefined {
  const { heap } = stage
  const flight = stage.inFlight.get(microBatch)
  if (flight === undefined) throw new InvariantError(`micro-batch ${microBatch} is not in flight`)
  const program = stage.programs.of('pass', flight.batch)
  const { plan, inputGradient, outputGradient, input } = program
  const { version, kept } = flight
  const pass = (slot: Block, work: Block) => {
    const bases = basesOf(stage, { version, slot, work, microBatch })
    if (!flight.whole) {
      write(heap, input, bases, heap.ints(kept.address, input.length))
      runSteps(plan.forward, bases)
    }
    if (outputGradient) write(heap, outputGradient, bases, gradient)
    runSteps(plan.backward, bases)
    stage.updater.gathered()
    return inputGradient && read(heap, inputGradient, bases)
  }
  const result = flight.whole
    ? borrowing(heap, plan.workBytes, (work) => pass(kept, work))
    : within(stage, program, pass)
  discard(stage, microBatch)
  return result
}

/** Forget a micro-batch, if it is in flight. */
export function discard(stage: Stage, microBatch: number): void {
  const flight = stage.inFlight.get(microBatch)
  if (flight === undefined) return
  stage.inFlight.delete(microBatch)
  stage.heap.free(flight.kept)
  stage.weights.release(flight.version)
}

/** Forward in evaluation mode at the newest weights. */
export function infer(stage: Stage, batch: number, input: Elements): Float32Array {
  const program = stage.programs.of('infer', batch)
  return evaluated(stage, program, input, (bases) => read(stage.heap, program.output, bases))
}

/** The same to the loss. */
export function judge(
  stage: Stage,
  { batch, input }: Pick<Arrival, 'batch' | 'input'>,
  labels: Labels,
): Tally {
  const program = stage.programs.of('judge', batch)
  return evaluated(stage, program, input, (bases) => judged(stage, program, { bases, labels }))
}

function evaluated<T>(stage: Stage, program: Program, input: Elements, read: (bases: Bases) => T): T {
  return within(stage, program, (slot, work) => {
    const version = stage.weights.newest
    const bases = basesOf(stage, { version, slot, work, microBatch: 0 })
    write(stage.heap, program.input, bases, input)
    runSteps(program.plan.forward, bases)
    return read(bases)
  })
}

function judged({ heap }: Stage, { loss }: Program, of: { bases: Bases; labels: Labels }): Tally {
  if (loss === undefined) throw new InvariantError('only the leaf of a cluster judges')
  const { bases, labels } = of
  write(heap, loss.labels, bases, labels.data)
  return loss.judge(({ region, offset }) => bases[region] + offset, labels.counted)
}

/** Work with a slot and a workspace that are given back after it. */
function within<T>({ heap }: Stage, { plan }: Program, work: (slot: Block, workspace: Block) => T): T {
  return borrowing(heap, plan.slotBytes, (slot) =>
    borrowing(heap, plan.workBytes, (workspace) => work(slot, workspace)),
  )
}

function borrowing<T>(heap: Heap, bytes: number, work: (block: Block) => T): T {
  const block = heap.allocate(bytes)
  try {
    return work(block)
  } finally {
    heap.free(block)
  }
}

interface Run {
  readonly version: WeightVersion
  readonly slot: Block
  readonly work: Block | undefined
  readonly microBatch: number
}

function basesOf({ shape, updater, running }: Stage, { version, slot, work, microBatch }: Run): Bases {
  return {
    slot: slot.address,
    work: work?.address ?? 0,
    weights: version.address,
    sums: updater.sums,
    running: running.address,
    dropoutSeed: seedFrom(shape.setup.seed, microBatch),
  }
}

function write(heap: Heap, wire: Wire, bases: Bases, elements: Elements): void {
  const address = bases[wire.region] + wire.offset
  if (elements instanceof Int32Array) heap.ints(address, wire.length).set(elements)
  else heap.floats(address, wire.length).set(elements)
}

function read(heap: Heap, wire: Wire, bases: Bases): Float32Array {
  return heap.floats(bases[wire.region] + wire.offset, wire.length).slice()
}
