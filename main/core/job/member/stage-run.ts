/** One stage at work: its pipeline and its rings, as one thing that starts, holds, changes rings and ends. */
import { BadMessageError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import {
  isOfAveraging,
  type Header,
  type Progress,
  type WireMessage,
} from '../../../../shared/messages/wire.ts'
import type { Tally } from '../../../../shared/model/graph.ts'
import type { Plan, StagePosition } from '../../../../shared/plan/plan.ts'
import { createAveraging, type Averaging } from '../../averaging/averaging.ts'
import type { HoldOutcome } from '../../pipeline/admission.ts'
import type { StageAssignment, StageSummary } from '../../pipeline/assignment.ts'
import { type BatchOrder, createBatchOrder } from '../../pipeline/order.ts'
import { createStage, type Stage } from '../../pipeline/stage.ts'
import type { BatchSource } from '../../ports.ts'
import type { Trained } from '../checkpoint.ts'
import { peersOf, ringsInForce } from '../plan-in-force.ts'
import type { Assignment, MemberPorts } from './member-ports.ts'

export interface StageRunHooks {
  /** At the leaf, after every training micro-batch. */
  readonly onTally: (tally: Tally) => void
  readonly onUpdate: () => void
  /** A round of one ring is over, averaged or given up. */
  readonly onRound: (ring: number) => void
  /** Drained, and in the last round of the plan in force. Again after a plan that came later. */
  readonly onFinished: (summary: StageSummary) => void
  /** What broke the stage or its averaging. */
  readonly onFailed: (error: unknown) => void
}

export interface StageRunSetup {
  readonly assignment: Assignment
  readonly position: StagePosition
  readonly batches: BatchSource
  readonly hooks: StageRunHooks
}

/** Counters of a stage and its rings since it began; updates since the job began. */
export type StageRunStats = Pick<
  Progress,
  | 'updates'
  | 'samples'
  | 'averagedSamples'
  | 'cursor'
  | 'busyMs'
  | 'dropped'
  | 'maxStaleness'
  | 'rounds'
  | 'waitingFor'
>

export class StageRun {
  readonly #stage: Stage
  readonly #averaging: Averaging
  readonly #setup: StageRunSetup
  readonly #self: PeerId
  readonly #order: BatchOrder
  #plan: Plan
  #drained: StageSummary | undefined
  /** Updates that the pool had made under the plan when this stage began. */
  #missed = 0
  /** A micro-batch may have got lost, or the engine failed: the stage cannot go on where it stands. */
  isBroken = false

  /** The engine holds the stage's layers and weights. */
  constructor(ports: MemberPorts, setup: StageRunSetup) {
    const { assignment, batches, hooks } = setup
    const { spec, proposal } = assignment
    this.#setup = setup
    this.#self = ports.links.self
    this.#plan = proposal
    const stageSetup = stageAssignment(setup)
    this.#order = stageSetup.order
    const stage = createStage({ ...ports, batches }, stageSetup, {
      onUpdate: () => {
        averaging.updated()
        hooks.onUpdate()
      },
      mayUpdate: () => averaging.gate(),
      onTally: hooks.onTally,
    })
    const averaging = createAveraging(
      ports,
      {
        job: assignment.job,
        graph: spec.graph,
        averageEvery: spec.recipe.sync.averageEveryUpdates,
        ...this.#rings(proposal),
      },
      {
        progress: () => stage.progress(),
        onFault: hooks.onFailed,
        onRound: ({ ring }) => {
          hooks.onRound(ring)
        },
      },
    )
    this.#stage = stage
    this.#averaging = averaging
    stage.finished.then((summary) => {
      this.#drained = summary
      this.#average(summary)
    }, this.#broke.bind(this))
  }

  #broke(error: unknown): void {
    this.isBroken = true
    this.#setup.hooks.onFailed(error)
  }

  /** A peer of the cluster is out of reach: what was on its way to or from it may be lost. True: just now. */
  missedNeighbour(peer: PeerId): boolean {
    const { assignment, position } = this.#setup
    const cluster = peersOf(assignment.proposal, position.cluster)
    const isNew = cluster.includes(peer) && !this.isBroken && this.#drained === undefined
    if (isNew) this.isBroken = true
    return isNew
  }

  get isDrained(): boolean {
    return this.#drained !== undefined
  }

  /** Where the training went on when this stage began. */
  get #from(): Trained {
    return this.#setup.assignment.from
  }

  /** Updates that were made before this stage began. */
  get #before(): number {
    return this.#from.updates + this.#missed
  }

  get #isRoot(): boolean {
    return this.#setup.position.stage === 0
  }

  #rings(plan: Plan) {
    const rings = ringsInForce(plan).map((ring, index) => ({ index, plan: ring }))
    return { planNumber: plan.number, rings: rings.filter((ring) => ring.plan.members.includes(this.#self)) }
  }

  /** The last round of the plan in force; when it is given up, the host's next plan calls for another. */
  #average(summary: StageSummary): void {
    const { number } = this.#plan
    this.#averaging.finalRound().then((outcome) => {
      if (outcome === 'averaged' && this.#plan.number === number) this.#setup.hooks.onFinished(summary)
    }, this.#setup.hooks.onFailed)
  }

  /** @param missed - updates that the pool has made without this stage: it joins after them */
  start(missed: number): void {
    this.#missed = missed
    this.#stage.start(missed)
  }

  /** Messages of the pipeline and of averaging. @throws BadMessageError, and then nothing has changed */
  deliver(from: PeerId, message: WireMessage): void {
    if (isOfAveraging(message.header)) this.#averaging.deliver(from, message)
    else this.#stage.deliver(from, message)
  }

  /** Judge validation samples [0, samples). @throws BadMessageError when this is not a root */
  async validate(samples: number): Promise<{ readonly tally: Tally; readonly updates: number }> {
    this.#requireRoot()
    const { tally, updates } = await this.#stage.evaluate(samples)
    return { tally, updates: this.#before + updates }
  }

  /** Resolves when the cluster is empty, or may go on before it was. @throws BadMessageError when this is not a root */
  hold(): Promise<HoldOutcome> {
    this.#requireRoot()
    return this.#stage.hold()
  }

  /** Begin nothing until told otherwise; what is in flight stays in the stage. */
  rest(resting: boolean): void {
    this.#stage.rest(resting)
  }

  proceed(): void {
    this.#requireRoot()
    this.#stage.proceed()
  }

  finish(): void {
    this.#requireRoot()
    this.#stage.finish()
  }

  #requireRoot(): void {
    if (!this.#isRoot) throw new BadMessageError('only the root of a cluster can do that')
  }

  /** Other clusters are active now; this stage stays as it is. */
  replan(plan: Plan): void {
    this.#plan = plan
    this.#averaging.replan(this.#rings(plan))
    if (this.#drained !== undefined && plan.active.includes(this.#setup.position.cluster))
      this.#average(this.#drained)
  }

  get stats(): StageRunStats {
    const { updates, samples, busyMs, dropped, maxStaleness, waitingFor, backwarded } = this.#stage.stats()
    const { averaged, abandoned, averagedSamples, waitingFor: ring } = this.#averaging.stats()
    return {
      ...{ updates: this.#before + updates, samples, averagedSamples },
      ...{ cursor: this.#cursorAt(backwarded), busyMs, dropped, maxStaleness },
      rounds: { averaged, abandoned },
      waitingFor: waitingFor === '' || this.#drained !== undefined ? ring : waitingFor,
    }
  }

  /** Rows that this stage has trained, those of an update that is not made yet among them. */
  get cursor(): [number, number] {
    return this.#cursorAt(this.#stage.stats().backwarded)
  }

  #cursorAt(microBatches: number): [number, number] {
    const [epoch, rows] = this.#order.cursorAt(microBatches)
    return [epoch, rows]
  }

  async stop(reason: string): Promise<void> {
    this.#averaging.replan({ planNumber: this.#plan.number, rings: [] })
    await this.#stage.stop(reason)
  }
}

/** What a member can say of its stage to a host that does not know. */
export function heldStage(
  run: StageRun | undefined,
  assignment: Assignment | undefined,
  pausing: boolean,
): Pick<Header<'stage-report'>, 'layout' | 'stage' | 'pausing' | 'cursor'> {
  const layout = assignment?.proposal.number ?? 0
  if (run === undefined) return { layout, stage: 'none', pausing }
  const whole = run.isDrained ? 'finished' : 'whole'
  return { layout, stage: run.isBroken ? 'broken' : whole, pausing, cursor: run.cursor }
}

function stageAssignment({ assignment, position }: StageRunSetup): StageAssignment {
  const { spec, proposal, job, from } = assignment
  const { clusters } = proposal.layout
  const stages = clusters[position.cluster]?.stages ?? []
  const { trainSamples, validationSamples } = spec.data
  const { microBatch } = spec.recipe.schedule
  const share = { index: position.cluster, of: clusters.length }
  return {
    job,
    planNumber: proposal.number,
    position,
    stages: stages.map(({ peer }) => peer),
    layers: stages[position.stage]?.layers ?? [0, 0],
    graph: spec.graph,
    microBatch,
    accumulate: proposal.accumulate,
    inFlight: proposal.inFlight[position.cluster] ?? 1,
    staleness: spec.recipe.staleness,
    codecs: {
      up: stages[position.stage - 1]?.codec ?? 'fp32',
      down: stages[position.stage]?.codec ?? 'fp32',
    },
    order: createBatchOrder({ seed: spec.seed, trainSamples, microBatch, share, cuts: from.cuts }),
    trainSamples,
    validationSamples,
    targetUpdates: Math.max(0, spec.target.updates - from.updates),
  }
}
