/**
 * One stage's life: it runs whatever is ready, backward before forward, and never waits for the gradient of the
 * micro-batch it just sent on. Nothing polls: arrivals, sent messages and opened gates wake the loop.
 */
import { AbortedError, BadMessageError, InvariantError, reportOf } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Tally } from '../../../shared/model/graph.ts'
import type { Header, WireMessage } from '../../../shared/messages/wire.ts'
import { Admission, type Admitted, type HoldOutcome } from './admission.ts'
import {
  type StageAssignment,
  type StageHooks,
  type StagePlace,
  type StagePorts,
  type StageProgress,
  type StageStats,
  type StageSummary,
  placeOf,
} from './assignment.ts'
import { type Activation, Inbox, requireSender } from './inbox.ts'
import { Ledger } from './ledger.ts'
import { Outbox } from './outbox.ts'
import { StageWork } from './stage-work.ts'
import { describeWaiting } from './waiting.ts'

export interface Stage {
  /**
   * Every training micro-batch of the stream is in the weights; a rest that did not fill an update was applied as one
   * smaller, last update, so that no sample is lost. Evaluations still work afterwards, until `stop`.
   * Rejects with AbortedError after `stop`, or with what broke the stage (a lost neighbour, the engine).
   */
  readonly finished: Promise<StageSummary>
  /** Root: begin to admit training micro-batches, for so many updates less than the target. No effect elsewhere. */
  start(missed?: number): void
  /** A pipeline message for this cluster. @throws BadMessageError, and then nothing has changed */
  deliver(from: PeerId, message: WireMessage): void
  /** Root: admit nothing until `proceed`. `held` when the cluster is empty, every credit home; `proceeded` when it never will. */
  hold(): Promise<HoldOutcome>
  proceed(): void
  /**
   * Begin nothing, whatever waits here, until told otherwise; what is in flight stays. A stage that knows the end of its
   * stream goes on to that: others need it to end.
   */
  rest(resting: boolean): void
  /** Root: admit no more training, whatever the target; drain and end. */
  finish(): void
  /** Root: judge validation samples [0, samples) with the weights as they are when each passes. Held back by `hold`. */
  evaluate(samples: number): Promise<{ readonly tally: Tally; readonly updates: number }>
  /** End at once. Resolves when the engine has forgotten what was in flight; its accumulated gradient stays until `load`. */
  stop(reason: string): Promise<void>
  progress(): StageProgress
  stats(): StageStats
}

export function createStage(ports: StagePorts, assignment: StageAssignment, hooks: StageHooks = {}): Stage {
  return new StageLoop(ports, assignment, hooks)
}

/** Messages in one direction that may wait for the transport while the engine works on. */
const outboxLimit = 2

type Work = () => Promise<void>

class StageLoop implements Stage {
  readonly finished: Promise<StageSummary>
  readonly #ports: StagePorts
  readonly #assignment: StageAssignment
  readonly #hooks: StageHooks
  readonly #place: StagePlace
  readonly #ledger: Ledger
  readonly #inbox: Inbox
  readonly #admission: Admission
  readonly #work: StageWork
  readonly #down: Outbox | undefined
  readonly #up: Outbox | undefined
  readonly #home: Outbox | undefined
  readonly #ending = Promise.withResolvers<StageSummary>()
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #busy = false
  #stopped: Promise<void> | undefined
  #gated = false
  #resting = false
  #endAnnounced = false
  #ended = false

  constructor(ports: StagePorts, assignment: StageAssignment, hooks: StageHooks) {
    const place = placeOf(assignment)
    this.#ports = ports
    this.#assignment = assignment
    this.#hooks = hooks
    this.#place = place
    this.#ledger = new Ledger({ ...assignment, onEvent: hooks.onEvent })
    this.#inbox = new Inbox(assignment, place, this.#ledger)
    this.#admission = new Admission(assignment)
    this.#down = this.#outboxTo(place.next)
    this.#up = this.#outboxTo(place.previous)
    this.#home = place.isLeaf && !place.isRoot ? this.#outboxTo(place.root) : undefined
    this.#work = new StageWork({
      ports,
      assignment,
      place,
      hooks,
      ledger: this.#ledger,
      down: this.#down,
      up: this.#up,
      home: this.#home,
    })
    this.finished = this.#ending.promise
    this.finished.catch(() => undefined) // whoever waits for it hears of it; nobody has to
  }

  #outboxTo(to: PeerId | undefined): Outbox | undefined {
    if (to === undefined) return undefined
    return new Outbox({
      links: this.#ports.links,
      to,
      limit: outboxLimit,
      signal: this.#stopping.signal,
      onSent: () => {
        this.#wake()
      },
      onFailed: (error) => void this.#end(error),
    })
  }

  start(missed = 0): void {
    this.#admission.start(missed)
    this.#wake()
  }

  deliver(from: PeerId, message: WireMessage): void {
    if (this.#stopping.signal.aborted) return
    const { header } = message
    if (header.job !== this.#assignment.job || header.plan !== this.#assignment.planNumber)
      throw new BadMessageError(`${header.type} for another job or plan`)
    if (header.type === 'activation') this.#inbox.activation(from, message, header)
    else if (header.type === 'gradient') this.#inbox.gradient(from, message, header)
    else if (header.type === 'end-of-stream') this.#inbox.endOfStream(from, header)
    else if (header.type === 'judged') this.#judged(from, header)
    else throw new BadMessageError(`${header.type} is not a message of the pipeline`)
    this.#wake()
  }

  #judged(from: PeerId, { microBatch, tally }: Header<'judged'>): void {
    const { isRoot, isLeaf, leaf } = this.#place
    requireSender(from, isRoot && !isLeaf ? leaf : undefined, 'judged')
    this.#admission.judged(microBatch, tally)
  }

  hold(): Promise<HoldOutcome> {
    this.#requireRoot()
    if (this.#stopping.signal.aborted) return Promise.resolve('proceeded')
    const outcome = this.#admission.hold()
    this.#wake()
    return outcome
  }

  proceed(): void {
    this.#requireRoot()
    this.#admission.proceed()
    this.#wake()
  }

  rest(resting: boolean): void {
    this.#resting = resting
    this.#wake()
  }

  finish(): void {
    this.#requireRoot()
    this.#admission.finish()
    this.#wake()
  }

  async evaluate(samples: number): Promise<{ tally: Tally; updates: number }> {
    this.#requireRoot()
    if (this.#stopping.signal.aborted) throw new AbortedError('this stage has stopped')
    const judging = this.#admission.evaluate(samples)
    this.#wake()
    return { tally: await judging, updates: this.#ledger.updates }
  }

  async stop(reason: string): Promise<void> {
    await this.#end(new AbortedError(reason))
  }

  progress(): StageProgress {
    return this.#ledger.progress()
  }

  stats(): StageStats {
    const { updates, samples, stateVersion, dropped, maxStaleness, stalenessCounts } = this.#ledger
    const { backwarded } = this.#ledger
    return {
      ...{ updates, samples, stateVersion, dropped, maxStaleness, backwarded },
      stalenessCounts: [...stalenessCounts],
      busyMs: this.#work.busyMs,
      inFlight: this.#admission.inFlight,
      waitingFor: this.#waitingFor(),
    }
  }

  #waitingFor(): string {
    if (this.#busy || this.#ended || this.#stopping.signal.aborted) return ''
    return describeWaiting({
      place: this.#place,
      gated: this.#gated,
      outstanding: this.#ledger.outstanding.length,
      inFlight: this.#assignment.inFlight,
      judging: this.#admission.inFlight > this.#ledger.outstanding.length,
      downFull: this.#down?.full === true,
      upFull: this.#up?.full === true,
      holding: this.#admission.holding,
      started: this.#admission.started,
    })
  }

  #requireRoot(): void {
    if (!this.#place.isRoot) throw new InvariantError('only the root of a cluster admits micro-batches')
  }

  #wake(): void {
    if (this.#busy || this.#stopping.signal.aborted) return
    this.#busy = true
    this.#running = this.#run()
  }

  async #run(): Promise<void> {
    try {
      for (let work = this.#next(); work !== undefined; work = this.#next()) await work()
    } catch (error) {
      void this.#end(error)
    }
    this.#busy = false
  }

  /** What to do now, the most urgent first; undefined: sleep until something wakes us. */
  #next(): Work | undefined {
    if (this.#stopping.signal.aborted) return undefined
    if (this.#resting && this.#microBatches === undefined) return undefined
    this.#announceEnd()
    const updateDue = this.#updateDue()
    if (updateDue && this.#mayUpdate()) return () => this.#work.update()
    this.#settle(updateDue)
    return this.#nextBackward(updateDue) ?? this.#nextForward(updateDue) ?? this.#nextAdmission(updateDue)
  }

  get #microBatches(): number | undefined {
    return this.#place.isRoot ? this.#admission.end : this.#inbox.end
  }

  #updateDue(): boolean {
    const { accumulated, backwarded } = this.#ledger
    return (
      accumulated >= this.#assignment.accumulate || (accumulated > 0 && backwarded === this.#microBatches)
    )
  }

  #mayUpdate(): boolean {
    if (this.#gated) return false
    const opening = this.#hooks.mayUpdate?.()
    if (opening === undefined) return true
    this.#gated = true
    const open = () => {
      this.#gated = false
      this.#wake()
    }
    opening.then(open, (error: unknown) => this.#end(error))
    return false
  }

  #announceEnd(): void {
    const end = this.#microBatches
    if (end === undefined || this.#endAnnounced) return
    this.#endAnnounced = true
    this.#work.announceEnd(end)
  }

  /** Answer those who wait for an end of something. */
  #settle(updateDue: boolean): void {
    if (updateDue) return
    this.#admission.settle()
    if (this.#ended || this.#ledger.backwarded !== this.#microBatches) return
    this.#ended = true
    this.#ending.resolve({ updates: this.#ledger.updates, samples: this.#ledger.samples })
  }

  #nextBackward(updateDue: boolean): Work | undefined {
    const gradient = this.#inbox.nextGradient
    if (gradient === undefined || updateDue || this.#up?.full === true) return undefined
    this.#inbox.takeGradient()
    return async () => {
      await this.#work.backward(gradient)
      if (this.#place.isRoot) this.#admission.returned()
    }
  }

  #nextForward(updateDue: boolean): Work | undefined {
    const activation = this.#inbox.nextActivation
    if (activation === undefined || this.#mustWait(activation.purpose, updateDue)) return undefined
    this.#inbox.takeActivation()
    return () => this.#pass(activation)
  }

  #nextAdmission(updateDue: boolean): Work | undefined {
    if (!this.#place.isRoot || this.#down?.full === true) return undefined
    const admitted = this.#admission.take(!this.#mustWait('train', updateDue))
    return admitted === undefined ? undefined : () => this.#admit(admitted)
  }

  /** The leaf's forward adds to the gradient, so not while an update is due; and what is made must have a way out. */
  #mustWait(purpose: 'train' | 'evaluate', updateDue: boolean): boolean {
    if (!this.#place.isLeaf) return this.#down?.full === true
    if (purpose === 'evaluate') return this.#home?.full === true
    return updateDue || this.#up?.full === true
  }

  async #admit({ purpose, microBatch, batch }: Admitted): Promise<void> {
    this.#announceEnd()
    await this.#pass({ purpose, microBatch, tensor: await this.#ports.batches.inputs(batch) })
  }

  async #pass(activation: Activation): Promise<void> {
    const { isLeaf, isRoot } = this.#place
    if (activation.purpose === 'train') {
      await (isLeaf ? this.#work.loss(activation) : this.#work.forward(activation))
      if (isLeaf && isRoot) this.#admission.returned()
    } else if (isLeaf) {
      const tally = await this.#work.judge(activation)
      if (isRoot) this.#admission.judged(activation.microBatch, tally)
    } else {
      await this.#work.infer(activation)
    }
  }

  #end(error: unknown): Promise<void> {
    this.#stopped ??= this.#wreck(error)
    return this.#stopped
  }

  async #wreck(error: unknown): Promise<void> {
    this.#stopping.abort()
    this.#ending.reject(error)
    this.#admission.abort(reportOf(error).message)
    await this.#running
    try {
      for (const microBatch of this.#ledger.outstanding) await this.#ports.engine.discard(microBatch)
    } catch (failure) {
      this.#ports.log('warn', 'The engine could not forget what was in flight.', { ...reportOf(failure) })
    }
  }
}
