/** The outside world on one page. Core reaches network, tensors, data, disk, time and chance only through these. */
import type { Codec } from '../../shared/codec/codec.ts'
import type { RunBook } from '../../shared/job/run-book.ts'
import type { JobSpec } from '../../shared/job/spec.ts'
import type { BatchRef, DataManifest } from '../../shared/job/data.ts'
import type { LearningRateSchedule, Optimizer } from '../../shared/job/recipe.ts'
import type { LayerRange, ModelGraph, Tally } from '../../shared/model/graph.ts'
import type { PeerId } from '../../shared/ids.ts'
import type { Traffic, WireMessage } from '../../shared/messages/wire.ts'
import type { HostTensor } from '../../shared/tensor.ts'
import type { Bytes, Millis } from '../../shared/units.ts'

/** Time. Virtual in tests. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): Millis
  /** Resolves after so long; rejects with AbortedError when the signal fires. */
  sleep(duration: Millis, signal?: AbortSignal): Promise<void>
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
/** One line in plain words, with facts beside it. */
export type Log = (level: LogLevel, text: string, facts?: Readonly<Record<string, unknown>>) => void

/** Who sent a message, as far as its certificate proved. */
export interface Sender {
  readonly peer: PeerId
  readonly standing: 'stranger' | 'member' | 'host'
}

/** Message passing to other agents, and to ourselves. In order within a traffic class of a pair of peers. */
export interface Links {
  readonly self: PeerId
  /**
   * Resolves when the transport took the message (its back-pressure). The tensors must not be changed afterwards.
   * @throws PeerLostError when the peer is unreachable; AbortedError on the signal
   */
  send(to: PeerId, message: WireMessage, signal?: AbortSignal): Promise<void>
  /** Messages that passed the border's checks. One handler; it must not block. Returns its removal. */
  onMessage(handler: (from: Sender, message: WireMessage) => void): () => void
  /** A peer we exchanged messages with is gone. */
  onLost(handler: (peer: PeerId, reason: string) => void): () => void
  /** Where a member can be reached, as the host's roster says. */
  learnAddresses(peer: PeerId, addresses: readonly string[]): Promise<void>
  /** Where we can be reached. */
  addresses(): readonly string[]
  /** Body bytes (tensors) sent to other peers since the start, by class; nothing sent to ourselves counts. */
  sentBytes(): Readonly<Record<Traffic, Bytes>>
}

/** What an engine is to hold and how it trains it. */
export interface StageSetup {
  readonly graph: ModelGraph
  readonly layers: LayerRange
  readonly optimizer: Optimizer
  readonly learningRate: LearningRateSchedule
  readonly clipNorm?: number
  /** For dropout; together with the micro-batch number, so that recomputation repeats it. */
  readonly seed: number
  /** Refuse to grow above this; 0: no limit. */
  readonly memoryBudgetBytes: Bytes
  /**
   * True: keep only the input of a micro-batch in flight and run its forward pass again in the backward pass; false: keep
   * what the backward pass needs; absent: that while the budget leaves room. The numbers are the same. An engine that
   * cannot keep always recomputes.
   */
  readonly recompute?: boolean
}

/** A forward pass of one micro-batch. */
export interface ForwardRequest {
  readonly microBatch: number
  /** [B, ...]: rows from the data at the root, the activation elsewhere, in whatever codec it came. */
  readonly input: HostTensor
  /** τ ≥ 0: run at the weights predicted so many updates ahead; 0 is the newest weights. Always whole. */
  readonly predictUpdates: number
  /** Of the tensor that comes back and goes on to a neighbour; absent: fp32. */
  readonly codec?: Codec
}

/** Whole vector of numbers of a stage that averaging and checkpoints see: first trained, then untrained, layer by layer. */
export interface StateVector {
  readonly layers: LayerRange
  readonly values: Float32Array
}

/** What the optimizer did. */
export interface UpdateResult {
  /** False: the gradient held a NaN or infinity; it was dropped and the weights stay. */
  readonly applied: boolean
  /** Before clipping. */
  readonly gradientNorm: number
}

export interface EngineMemory {
  readonly tensors: number
  readonly bytes: Bytes
  /** Largest `bytes` since the stage was loaded, within operations included. */
  readonly peakBytes: Bytes
}

/**
 * Tensor work of one stage. Calls run in the order made, one at a time. The engine owns every tensor it makes;
 * what it returns is the caller's. It reads and writes codecs itself, so that its caller's thread does not. Weights seen
 * by a forward pass stay until its backward pass is done.
 *
 * Layout (`core/model/layout.ts`): the parameters of a stage are one contiguous region, layer by layer; the
 * numbers of a run of layers are [its trained parameters..., its untrained state...].
 */
export interface StageEngine {
  /** Name of the backend, for example `tfjs-wasm`. */
  readonly backend: string
  /** Forget any stage and build this one, its weights zero until `writeState`. @throws DeviceMemoryError */
  load(setup: StageSetup): Promise<void>
  /** Forward in training mode; keeps what the backward pass needs. Not for the leaf. */
  forward(request: ForwardRequest): Promise<HostTensor>
  /** Forward, loss and backward of the leaf in one go. The mean loss's gradient is added to the accumulated one. */
  forwardLoss(
    request: ForwardRequest & { readonly labels: HostTensor },
  ): Promise<{ readonly tally: Tally; readonly inputGradient: HostTensor | undefined }>
  /** Backward at the weights of this micro-batch's own forward; accumulates. No input gradient at the root. */
  backward(microBatch: number, gradient: HostTensor, codec?: Codec): Promise<HostTensor | undefined>
  /** Forget a micro-batch that will never come back. */
  discard(microBatch: number): Promise<void>
  /** Apply the mean of the accumulated micro-batches to the newest weights, and clear it. */
  update(): Promise<UpdateResult>
  /** Forward in evaluation mode (running statistics, no dropout), nothing kept. */
  infer(input: HostTensor): Promise<HostTensor>
  /** The same to the loss. Leaf only. */
  judge(input: HostTensor, labels: HostTensor): Promise<Tally>
  /** Copy of the numbers of a run of layers within the stage. */
  readState(layers: LayerRange): Promise<StateVector>
  /** Overwrite them; the optimizer's memory is kept. */
  writeState(state: StateVector): Promise<void>
  /** Add to them: averaging adds `mean − copy`, so that updates made meanwhile survive. */
  addToState(state: StateVector): Promise<void>
  /** Optimizer memory and update count, for checkpoints. */
  readOptimizer(): Promise<{ readonly updates: number; readonly moments: readonly Float32Array[] }>
  writeOptimizer(state: {
    readonly updates: number
    readonly moments: readonly Float32Array[]
  }): Promise<void>
  memory(): Promise<EngineMemory>
  /** Forget the stage and give its memory back. */
  unload(): Promise<void>
}

/** The samples of a job, as far as this peer needs them. */
export interface BatchSource {
  /** [B, ...] ready for the model (normalised, masked). */
  inputs(batch: BatchRef): Promise<HostTensor>
  /** int32 [B] or [B, T] for cross-entropy; float32 for regression. */
  labels(batch: BatchRef): Promise<HostTensor>
}

/** Shards on this disk. Members fill it from peers, the host from its own data. */
export interface ShardStore {
  has(hash: string): Promise<boolean>
  /** @returns undefined when the shard is not here */
  read(hash: string, offset: number, maxBytes: Bytes): Promise<Uint8Array | undefined>
  /** How many bytes of an unfinished download are here: where to go on. */
  received(hash: string): Promise<Bytes>
  append(hash: string, offset: number, bytes: Uint8Array): Promise<void>
  /** Check the hash and make the shard readable. False: it was corrupt and is gone. @throws DiskFullError */
  seal(hash: string): Promise<boolean>
  /** Open the columns of a manifest that this peer holds. */
  open(manifest: DataManifest, spec: JobSpec): BatchSource
}

/** A trained model, whole. */
export interface FinishedModel {
  readonly spec: JobSpec
  /** All numbers of the graph, laid out as the `StateVector` of its layers [0, L). */
  readonly state: Float32Array
  readonly report: Readonly<Record<string, unknown>>
}

/** A run as its host writes it down. */
export interface SavedRun {
  readonly book: RunBook
  /** The whole model and each moment of its optimizer; undefined: none yet, or none newer than those kept before. */
  readonly checkpoint:
    | { readonly updates: number; readonly state: StateVector; readonly moments?: readonly Float32Array[] }
    | undefined
}

/** What must survive this process. Atomic: a reader sees the old or the new, never half. */
export interface Vault {
  /** Write model.json, model.safetensors and report.json. @returns the folder @throws DiskFullError */
  saveModel(jobId: string, model: FinishedModel): Promise<string>
  /** Keep this stage's numbers and optimizer, so that a pause or crash loses nothing. */
  saveStage(jobId: string, stage: { readonly updates: number; readonly state: StateVector }): Promise<void>
  /** Keep a hosted run, so that its host can go on after a crash. @throws DiskFullError; what was kept before stays */
  saveRun(jobId: string, run: SavedRun): Promise<void>
}
