/** The deeds of a stage: what the engine is made to do with one micro-batch, and whom the result goes to. */
import { InvariantError } from '../../../shared/errors.ts'
import type { Tally } from '../../../shared/model/graph.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import type { HostTensor } from '../../../shared/tensor.ts'
import type { StageAssignment, StageHooks, StagePlace, StagePorts } from './assignment.ts'
import type { Arrival } from './inbox.ts'
import type { Ledger } from './ledger.ts'
import { validationBatch } from './order.ts'
import type { Outbox } from './outbox.ts'

interface WorkParts {
  readonly ports: StagePorts
  readonly assignment: StageAssignment
  readonly place: StagePlace
  readonly hooks: StageHooks
  readonly ledger: Ledger
  /** To the next stage, the previous one, and the root; each absent where there is nobody. */
  readonly down: Outbox | undefined
  readonly up: Outbox | undefined
  readonly home: Outbox | undefined
}

/** Large enough to be read as "diverged", small enough that sums of it stay finite. */
const divergedLoss = 1e200

/** A tally that JSON can carry: a loss that is no number any more becomes a huge one. */
function finite(tally: Tally): Tally {
  return Number.isFinite(tally.lossSum) ? tally : { ...tally, lossSum: divergedLoss }
}

export class StageWork {
  busyMs = 0
  readonly #parts: WorkParts

  constructor(parts: WorkParts) {
    this.#parts = parts
  }

  /** Not at the leaf. */
  async forward({ microBatch, tensor }: Arrival): Promise<void> {
    const { ports, place, ledger, down } = this.#parts
    const codec = place.outputCodec
    const predictUpdates = ledger.beginForward(microBatch)
    const output = await this.#timed(() =>
      ports.engine.forward({ microBatch, input: tensor, predictUpdates, codec }),
    )
    ledger.endForward()
    down?.post(this.#message({ type: 'activation', microBatch, purpose: 'train' }, output))
  }

  /** Forward, loss and backward of the leaf. */
  async loss({ microBatch, tensor }: Arrival): Promise<void> {
    const { ports, assignment, place, hooks, ledger, up } = this.#parts
    const codec = place.inputCodec
    const labels = await ports.batches.labels(assignment.order.batch(microBatch))
    const predictUpdates = ledger.beginForward(microBatch)
    const { tally, inputGradient } = await this.#timed(() =>
      ports.engine.forwardLoss({ microBatch, input: tensor, labels, predictUpdates, codec }),
    )
    ledger.endForward()
    ledger.endBackward(microBatch, assignment.order.size(microBatch))
    this.#sendUp(up, microBatch, inputGradient)
    hooks.onTally?.(finite(tally))
  }

  /** Not at the leaf. */
  async backward({ microBatch, tensor }: Arrival): Promise<void> {
    const { ports, assignment, place, ledger, up } = this.#parts
    const codec = place.inputCodec
    const inputGradient = await this.#timed(() => ports.engine.backward(microBatch, tensor, codec))
    ledger.endBackward(microBatch, assignment.order.size(microBatch))
    this.#sendUp(up, microBatch, inputGradient)
  }

  async update(): Promise<void> {
    const { ports, hooks, ledger } = this.#parts
    ledger.beginUpdate()
    const { applied } = await this.#timed(() => ports.engine.update())
    ledger.endUpdate(applied)
    if (!applied) ports.log('warn', 'A gradient held a value that is no number; this update was left out.')
    hooks.onUpdate?.(ledger.progress())
  }

  /** An evaluation micro-batch through a stage that is not the leaf. */
  async infer({ microBatch, tensor }: Arrival): Promise<void> {
    const { ports, down } = this.#parts
    // What a model is worth is told of its own numbers, so activations of an evaluation travel as they are.
    const output = await this.#timed(() => ports.engine.infer(tensor))
    down?.post(this.#message({ type: 'activation', microBatch, purpose: 'evaluate' }, output))
  }

  /** The same at the leaf. Tells the root; in a one-stage cluster that is the caller. */
  async judge({ microBatch, tensor }: Arrival): Promise<Tally> {
    const { ports, assignment, home } = this.#parts
    const labels = await ports.batches.labels(validationBatch(assignment, microBatch, tensor.shape[0] ?? 0))
    const tally = finite(await this.#timed(() => ports.engine.judge(tensor, labels)))
    home?.post(this.#message({ type: 'judged', microBatch, tally }))
    return tally
  }

  /** Tell the next stage how many training micro-batches there are. */
  announceEnd(microBatches: number): void {
    this.#parts.down?.post(this.#message({ type: 'end-of-stream', microBatches }))
  }

  #sendUp(up: Outbox | undefined, microBatch: number, gradient: HostTensor | undefined): void {
    if (up === undefined) return
    if (gradient === undefined) throw new InvariantError('the engine gave no input gradient to send back')
    up.post(this.#message({ type: 'gradient', microBatch }, gradient))
  }

  #message(body: Body, ...tensors: readonly HostTensor[]): WireMessage {
    const { job, planNumber } = this.#parts.assignment
    return { header: { ...body, job, plan: planNumber }, tensors }
  }

  async #timed<T>(call: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts.ports
    const begun = clock.now()
    const result = await call()
    this.busyMs += clock.now() - begun
    return result
  }
}

type Body =
  | { readonly type: 'activation'; readonly microBatch: number; readonly purpose: 'train' | 'evaluate' }
  | { readonly type: 'gradient'; readonly microBatch: number }
  | { readonly type: 'judged'; readonly microBatch: number; readonly tally: Tally }
  | { readonly type: 'end-of-stream'; readonly microBatches: number }
