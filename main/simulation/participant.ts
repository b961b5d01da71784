/** One simulated PC with its stage: the real pipeline and the real rings, as `StageRun` of a job wires them. */
import { reportOf } from '../../shared/errors.ts'
import type { PeerId } from '../../shared/ids.ts'
import { isOfAveraging, type WireMessage } from '../../shared/messages/wire.ts'
import type { RingPlan, StagePosition } from '../../shared/plan/plan.ts'
import type { ModelProfile } from '../../shared/plan/pool.ts'
import type { Millis } from '../../shared/units.ts'
import { createAveraging, type Averaging } from '../core/averaging/averaging.ts'
import type { RoundReport } from '../core/averaging/settings.ts'
import type { StageEvent } from '../core/pipeline/assignment.ts'
import { createStage, type Stage } from '../core/pipeline/stage.ts'
import type { BatchSource, Clock, Links, StageEngine } from '../core/ports.ts'
import type { StandIn } from './stand-in.ts'

export const job = '0'.repeat(64)

/** A part of a plan. */
export interface Seat {
  readonly position: StagePosition
  readonly stages: readonly PeerId[]
  readonly layers: readonly [number, number]
  readonly inFlight: number
  readonly accumulate: number
  /** Of the plan that cut the stages. */
  readonly planNumber: number
  readonly rings: readonly RingPlan[]
}

export interface ParticipantPorts {
  readonly links: Links
  readonly clock: Clock
  readonly engine: StageEngine
}

export interface ParticipantSetup {
  readonly seat: Seat
  readonly standIn: StandIn
  readonly profile: ModelProfile
  /** Updates of each cluster, after which it drains and makes its last average; Infinity: it goes on. */
  readonly targetUpdates: number
  /** It has made them, and the last average. */
  readonly onEnd: () => void
  readonly onEvent: (event: StageEvent) => void
  /** Updates waited for an average since then, until now. */
  readonly onGate: (sinceMs: Millis) => void
  readonly onRound: (report: RoundReport) => void
  /** Core refused a message or broke: a simulation that goes on would lie. */
  readonly onFault: (error: unknown) => void
}

/** Micro-batches are counted, not read: a sample stands for b of them, whichever. */
const order = {
  batch: () => ({ epoch: 0, rows: Uint32Array.of(0) }),
  size: () => 1,
  cursorAt: (rows: number): readonly [number, number] => [0, rows],
}

export class Participant {
  readonly stage: Stage
  readonly seat: Seat
  readonly #averaging: Averaging
  readonly #self: PeerId
  readonly #setup: ParticipantSetup
  #stopped = false

  constructor({ links, clock, engine }: ParticipantPorts, setup: ParticipantSetup) {
    const { seat, standIn, profile, targetUpdates, onEvent, onRound } = setup
    this.#self = links.self
    this.#setup = setup
    this.seat = seat
    const tensor = () => Promise.resolve(standIn.tensor)
    const batches: BatchSource = { inputs: tensor, labels: tensor }
    const ports = { links, clock, engine, batches, log: () => undefined }
    const assignment = {
      ...{ job, planNumber: seat.planNumber, position: seat.position, stages: seat.stages, order },
      layers: [seat.layers[0], seat.layers[1]] as [number, number],
      ...{ graph: standIn.graph, microBatch: 1, accumulate: seat.accumulate, inFlight: seat.inFlight },
      staleness: 'none' as const,
      ...{ trainSamples: Number.MAX_SAFE_INTEGER, validationSamples: 0, targetUpdates },
    }
    const stage = createStage(ports, assignment, {
      onEvent,
      onUpdate: () => {
        averaging.updated()
      },
      mayUpdate: () => {
        const gate = averaging.gate()
        if (gate !== undefined) this.#timeGate(gate, clock)
        return gate
      },
    })
    const settings = { job, graph: standIn.graph, averageEvery: profile.averageEveryUpdates }
    const averaging = createAveraging(
      ports,
      { ...settings, ...this.#ringsOf(seat.planNumber, seat.rings) },
      { progress: () => stage.progress(), onRound, onFault: setup.onFault },
    )
    const ended = stage.finished.then(async () => {
      if (targetUpdates === Infinity) return
      await averaging.finalRound()
      if (!this.#stopped) setup.onEnd()
    })
    ended.catch((error: unknown) => {
      if (!this.#stopped && reportOf(error).kind === 'bug') setup.onFault(error)
    })
    this.stage = stage
    this.#averaging = averaging
    links.onMessage(({ peer }, message) => {
      this.#deliver(peer, message)
    })
  }

  #timeGate(gate: Promise<void>, clock: Clock): void {
    const sinceMs = clock.now()
    const opened = () => {
      this.#setup.onGate(sinceMs)
    }
    gate.then(opened, opened)
  }

  #deliver(from: PeerId, message: WireMessage): void {
    const { type, plan } = message.header
    // What stages of an earlier plan said is of the past; weights are taken before there is a stage.
    if (this.#stopped || plan < this.seat.planNumber || type === 'parameters') return
    try {
      if (isOfAveraging(message.header)) this.#averaging.deliver(from, message)
      else this.stage.deliver(from, message)
    } catch (error) {
      this.#setup.onFault(error)
    }
  }

  #ringsOf(planNumber: number, plans: readonly RingPlan[]) {
    const all = plans.map((plan, index) => ({ index, plan }))
    return { planNumber, rings: all.filter(({ plan }) => plan.members.includes(this.#self)) }
  }

  /** Other clusters are active now; this stage stays as it is. */
  replan(planNumber: number, rings: readonly RingPlan[]): void {
    this.#averaging.replan(this.#ringsOf(planNumber, rings))
  }

  /** Drained, and the last average made or given up. */
  async finish(): Promise<void> {
    if (this.seat.position.stage === 0) this.stage.finish()
    try {
      await this.stage.finished
      await this.#averaging.finalRound()
    } catch {
      // Its cluster lost somebody meanwhile: there is nothing left to wait for.
    }
  }

  stop(reason: string): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#averaging.replan({ planNumber: Number.MAX_SAFE_INTEGER, rings: [] })
    void this.stage.stop(reason)
  }
}
