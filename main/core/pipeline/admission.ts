/** The root's door: credits, what to admit next, hold, finish, and evaluations among the training. */
import { AbortedError, BadMessageError, InvariantError } from '../../../shared/errors.ts'
import type { BatchRef } from '../../../shared/job/data.ts'
import type { Tally } from '../../../shared/model/graph.ts'
import type { StageAssignment } from './assignment.ts'
import { validationBatches } from './order.ts'

/** A micro-batch to send through the cluster. */
export interface Admitted {
  readonly purpose: 'train' | 'evaluate'
  readonly microBatch: number
  readonly batch: BatchRef
}

interface Evaluation {
  readonly batches: readonly BatchRef[]
  next: number
  judged: number
  tally: Tally
  readonly resolve: (tally: Tally) => void
  readonly reject: (error: unknown) => void
}

const nothing: Tally = { lossSum: 0, labels: 0, correct: 0, correctTop5: 0 }

function add(one: Tally, other: Tally): Tally {
  return {
    lossSum: one.lossSum + other.lossSum,
    labels: one.labels + other.labels,
    correct: one.correct + other.correct,
    correctTop5: one.correctTop5 + other.correctTop5,
  }
}

/** What the host asked of a held cluster: it is empty now, or it goes on before it was. */
export type HoldOutcome = 'held' | 'proceeded'

export class Admission {
  inFlight = 0
  readonly #assignment: StageAssignment
  readonly #evaluations: Evaluation[] = []
  #holders: ((outcome: HoldOutcome) => void)[] = []
  #started = false
  #holding = false
  #admitted = 0
  #missed = 0
  #end: number | undefined
  #lastWasEvaluation = false

  constructor(assignment: StageAssignment) {
    this.#assignment = assignment
  }

  get holding(): boolean {
    return this.#holding
  }

  get started(): boolean {
    return this.#started
  }

  /** How many training micro-batches there are in all, once no more will come. */
  get end(): number | undefined {
    return this.#end
  }

  /** @param missed - updates that others have made, of the target */
  start(missed: number): void {
    this.#started = true
    this.#missed = missed
  }

  finish(): void {
    this.#end ??= this.#admitted
  }

  /** Admit nothing. @returns when every credit is home, or `proceed` came first */
  hold(): Promise<HoldOutcome> {
    this.#holding = true
    return new Promise((resolve) => this.#holders.push(resolve))
  }

  proceed(): void {
    this.#holding = false
    this.#answerHolders('proceeded')
  }

  /** Tell whoever holds that the cluster is empty, if it is. */
  settle(): void {
    if (this.#holding && this.inFlight === 0) this.#answerHolders('held')
  }

  #answerHolders(outcome: HoldOutcome): void {
    const holders = this.#holders
    this.#holders = []
    for (const answer of holders) answer(outcome)
  }

  /** Validation samples [0, samples) through the pipeline, after evaluations asked for earlier. */
  evaluate(samples: number): Promise<Tally> {
    const batches = validationBatches({ ...this.#assignment, limit: samples })
    if (batches.length === 0) return Promise.resolve(nothing)
    return new Promise((resolve, reject) =>
      this.#evaluations.push({ batches, next: 0, judged: 0, tally: nothing, resolve, reject }),
    )
  }

  /**
   * The next micro-batch that has a credit, and now uses it. Training and evaluation take turns.
   * @param mayTrain - false while training has to wait for something else
   */
  take(mayTrain: boolean): Admitted | undefined {
    if (this.#holding || this.inFlight >= this.#assignment.inFlight) return undefined
    const evaluation = this.#evaluations[0]
    const evaluationWaits = evaluation !== undefined && evaluation.next < evaluation.batches.length
    const trains = mayTrain && this.#started && this.#end === undefined
    if (evaluationWaits && !(trains && this.#lastWasEvaluation)) return this.#takeEvaluation(evaluation)
    return trains ? this.#takeTraining() : undefined
  }

  #takeEvaluation(evaluation: Evaluation): Admitted {
    const microBatch = evaluation.next
    const batch = evaluation.batches[microBatch]
    if (batch === undefined) throw new InvariantError('an evaluation beyond its batches')
    evaluation.next += 1
    this.inFlight += 1
    this.#lastWasEvaluation = true
    return { purpose: 'evaluate', microBatch, batch }
  }

  #takeTraining(): Admitted {
    const { order, targetUpdates, accumulate } = this.#assignment
    const microBatch = this.#admitted
    this.#admitted += 1
    if (this.#admitted >= (targetUpdates - this.#missed) * accumulate) this.#end = this.#admitted
    this.inFlight += 1
    this.#lastWasEvaluation = false
    return { purpose: 'train', microBatch, batch: order.batch(microBatch) }
  }

  /** A training micro-batch is through: its credit is home. */
  returned(): void {
    this.inFlight -= 1
  }

  /** An evaluation micro-batch is through. @throws BadMessageError when it was not the next to come back */
  judged(microBatch: number, tally: Tally): void {
    const evaluation = this.#evaluations[0]
    if (microBatch !== evaluation?.judged || microBatch >= evaluation.next)
      throw new BadMessageError(`validation micro-batch ${microBatch} was judged but not asked for`)
    this.inFlight -= 1
    evaluation.judged += 1
    evaluation.tally = add(evaluation.tally, tally)
    if (evaluation.judged < evaluation.batches.length) return
    this.#evaluations.shift()
    evaluation.resolve(evaluation.tally)
  }

  /** Nothing will come back any more. */
  abort(reason: string): void {
    for (const { reject } of this.#evaluations.splice(0)) reject(new AbortedError(reason))
    this.#answerHolders('proceeded')
  }
}
