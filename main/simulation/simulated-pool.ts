/** All participants of a plan at work on one clock: who sits where, what their messages weigh, what changes with a plan. */
import { bytesShare, type Codec } from '../../shared/codec/codec.ts'
import { InvariantError, reportOf } from '../../shared/errors.ts'
import type { PeerId } from '../../shared/ids.ts'
import type { WireMessage } from '../../shared/messages/wire.ts'
import type { Plan, RingPlan, StagePosition } from '../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../shared/plan/pool.ts'
import { createRng, type Rng, seedFrom } from '../../shared/random.ts'
import { type Bytes, type Millis, second } from '../../shared/units.ts'
import { peersOf, ringsInForce, withActive } from '../core/job/plan-in-force.ts'
import { codingSeconds, createCostModel, type CostModel } from '../core/planner/cost.ts'
import type { SharedProcessors } from '../core/planner/shared-processors.ts'
import { createSimulationClock, type SimulationClock } from './clock.ts'
import { SimulatedEngine, type EngineCall } from './engine.ts'
import { Meters } from './meters.ts'
import { SimulatedNetwork, type Transfer } from './network.ts'
import { job, Participant, type Seat } from './participant.ts'
import { SharedMachine } from './shared-machine.ts'
import { type StandIn, standInFor } from './stand-in.ts'
import { drawFactor, type Stragglers } from './stragglers.ts'

export interface PoolSettings {
  readonly pool: Pool
  readonly profile: ModelProfile
  readonly seed: number
  readonly stragglers: Stragglers
  /** Share of the pieces that are lost on the way. */
  readonly loss: number
  /** Rates and shares are measured from here on. */
  readonly warmMs: Millis
  /** Each cluster ends after so many updates; absent: none does. */
  readonly targetUpdates?: number
  /** These participants are on one machine; absent: each has its own. */
  readonly shared?: SharedProcessors
  readonly watch?: Watcher
}

/** Sees what happens, for a timeline. */
export interface Watcher {
  readonly call: (peer: PeerId, call: EngineCall) => void
  readonly transfer: (transfer: Transfer) => void
  /** Something that has no length. */
  readonly event: (text: string, atMs: Millis) => void
}

/** Rings of one plan, and what their vectors weigh. */
interface Rings {
  readonly plans: readonly RingPlan[]
  readonly bytesPerNumber: readonly number[]
}

interface Border {
  readonly bytes: Bytes
  readonly codingMs: Millis
}
const noBorder: Border = { bytes: 0, codingMs: 0 }
/** Before a stage's layers, and behind them. */
type Sides = readonly [Border, Border]

/** A stage as the plan has it. */
interface Seated {
  readonly seat: Seat
  readonly recompute: boolean | undefined
  readonly sides: Sides
}

/** Copies of a stage's weights that travel when a plan hands them out anew: the weights and two moments. */
const movedCopies = 3

export class SimulatedPool {
  readonly clock: SimulationClock
  readonly network: SimulatedNetwork
  readonly meters: Meters
  readonly #settings: PoolSettings
  readonly #cost: CostModel
  readonly #machine: SharedMachine | undefined
  readonly #rngs = new Map<PeerId, Rng>()
  readonly #participants = new Map<PeerId, Participant>()
  readonly #sides = new Map<PeerId, Sides>()
  readonly #places: ReadonlyMap<PeerId, number>
  readonly #rings = new Map<number, Rings>()
  /** PCs that weights are on their way to. */
  readonly #awaited = new Map<PeerId, () => void>()
  #standIn: StandIn
  #plan: Plan | undefined
  #fault: Error | undefined

  constructor(settings: PoolSettings) {
    const { pool, profile, seed, loss, warmMs, watch, shared } = settings
    this.#settings = settings
    this.#cost = createCostModel(pool, profile)
    this.#places = new Map(pool.peers.map(({ id }, place) => [id, place]))
    this.#standIn = standInFor(profile, 1)
    this.clock = createSimulationClock()
    this.meters = new Meters(warmMs)
    const common = {
      ...{ clock: this.clock, pool },
      bodyBytes: (from: PeerId, message: WireMessage) => this.#bytesOf(from, message),
    }
    this.#machine = shared && new SharedMachine({ ...common, shared })
    this.network = new SimulatedNetwork({
      ...common,
      loss,
      rng: createRng(seedFrom(seed, 'loss')),
      onTransfer: (transfer) => {
        if (transfer.message.header.type === 'parameters') this.#awaited.get(transfer.to)?.()
        watch?.transfer(transfer)
      },
    })
  }

  /** The plan in force. @throws InvariantError before there is one */
  get plan(): Plan {
    if (this.#plan === undefined) throw new InvariantError('there is no plan yet')
    return this.#plan
  }

  /** Let time pass. @throws what core broke with */
  async runTo(moment: Millis): Promise<void> {
    await this.clock.runTo(moment)
    if (this.#fault !== undefined) throw this.#fault
  }

  /** Something broke that should not: the simulation ends with it. */
  readonly fail = (error: unknown): void => {
    this.#fault ??= error instanceof Error ? error : new InvariantError(reportOf(error).message)
  }

  /** Seat everyone and start. */
  begin(plan: Plan): void {
    const { profile } = this.#settings
    this.#plan = plan
    this.#standIn = standInFor(profile, plan.layout.clusters.length)
    this.#rings.clear()
    const rings = this.#takeRings(plan)
    for (const [cluster, { stages }] of plan.layout.clusters.entries()) {
      const common = {
        stages: stages.map(({ peer }) => peer),
        ...{ inFlight: plan.inFlight[cluster] ?? 1, accumulate: plan.accumulate, planNumber: plan.number },
      }
      const borders = stages.slice(0, -1).map(({ layers, codec = 'fp32' }) => this.#border(layers[1], codec))
      for (const [stage, { peer, layers, recompute }] of stages.entries()) {
        const seat = { ...common, position: { cluster, stage }, layers, rings }
        const sides = [borders[stage - 1] ?? noBorder, borders[stage] ?? noBorder] as const
        this.#seat(peer, { seat, recompute, sides })
      }
    }
    for (const participant of this.#participants.values()) participant.stage.start()
    this.#settings.watch?.event(`plan ${plan.number}`, this.clock.now())
  }

  #takeRings(plan: Plan): readonly RingPlan[] {
    const plans = ringsInForce(plan)
    const sum = (ring: RingPlan, of: (layers: readonly [number, number]) => number) =>
      ring.layers.reduce((total, layers) => total + of(layers), 0)
    const weight = (ring: RingPlan) =>
      sum(ring, (layers) => this.#held(layers)) / sum(ring, (layers) => this.#standIn.lengthOf(layers))
    this.#rings.set(plan.number, { plans, bytesPerNumber: plans.map(weight) })
    return plans
  }

  /** Parameter bytes of a run of layers. */
  #held([from, to]: readonly [number, number]): Bytes {
    const { p } = this.#cost.sums
    return (p[to] ?? 0) - (p[from] ?? 0)
  }

  /** What a micro-batch weighs on a border, one way, and what writing and reading it takes on either side. */
  #border(layer: number, codec: Codec): Border {
    const { microBatch, layers } = this.#settings.profile
    const exact = microBatch * (layers[layer - 1]?.activationBytesPerSample ?? 0)
    return { bytes: exact * bytesShare(codec), codingMs: codingSeconds(codec, exact) * second }
  }

  #seat(peer: PeerId, { seat, recompute, sides }: Seated): void {
    const { profile, stragglers, seed, watch, targetUpdates = Infinity } = this.#settings
    const { position, stages } = seat
    const rng = this.#rngs.get(peer) ?? createRng(seedFrom(seed, peer))
    this.#rngs.set(peer, rng)
    const engine = new SimulatedEngine({
      ...{ clock: this.clock, processors: this.#machine?.processorsOf(peer) },
      ...this.#durations(peer, { seat, recompute, sides }),
      drawFactor: () => drawFactor(stragglers, rng),
      tensor: this.#standIn.tensor,
      isRoot: position.stage === 0,
      lengthOf: (run) => this.#standIn.lengthOf(run),
      onCall: (call) => {
        this.meters.worked(peer, call.beganMs, call.endedMs)
        watch?.call(peer, call)
      },
    })
    const root = stages[0] ?? peer
    const own = this.network.linksOf(peer)
    const ports = { links: this.#machine?.linksOf(own) ?? own, clock: this.clock, engine }
    const participant = new Participant(ports, {
      ...{ seat, profile, standIn: this.#standIn, targetUpdates },
      onEnd: () => {
        this.meters.endedMs = this.clock.now()
      },
      onEvent: ({ type }) => {
        if (type === 'backward' && peer === root) this.meters.returned(root, this.clock.now())
      },
      onGate: (sinceMs) => {
        this.meters.gated(peer, sinceMs, this.clock.now())
      },
      onRound: ({ outcome }) => {
        this.meters.rounds[outcome] += 1
        if (outcome === 'averaged' && peer === root) this.meters.averaged(root)
      },
      onFault: this.fail,
    })
    this.#participants.set(peer, participant)
    this.#sides.set(peer, sides)
  }

  /** Its activation is read and written in the forward pass, its gradient in the backward pass. */
  #durations(peer: PeerId, { seat: { layers }, recompute, sides }: Seated) {
    const place = this.#places.get(peer) ?? -1
    const { flopsPerSecond = 0, callSeconds = 0 } = this.#cost.pool.peers[place] ?? {}
    const { f } = this.#cost.sums
    const flops = this.#settings.profile.microBatch * ((f[layers[1]] ?? 0) - (f[layers[0]] ?? 0))
    const forward = flops / flopsPerSecond
    const whole = this.#cost.workSeconds({ peer: place, layers, recompute })
    const codingMs = (sides[0].codingMs + sides[1].codingMs) / 2
    const crowd = this.#machine?.crowdOf(peer) ?? { slower: 1, callSeconds }
    const workMs = crowd.slower * second
    return {
      forwardMs: forward * workMs + codingMs,
      backwardMs: (whole - forward) * workMs + codingMs,
      callMs: crowd.callSeconds * second,
    }
  }

  /** What a message weighs on the line. */
  #bytesOf(from: PeerId, { header, tensors }: WireMessage): Bytes {
    if (header.type === 'chunk') {
      const bytesPerNumber = this.#rings.get(header.plan)?.bytesPerNumber[header.ring] ?? 0
      return bytesPerNumber * (tensors[0]?.data.length ?? 0)
    }
    if (header.type === 'parameters') return movedCopies * this.#held(header.layers)
    const [before, after] = this.#sides.get(from) ?? [noBorder, noBorder]
    if (header.type === 'activation') return after.bytes
    return header.type === 'gradient' ? before.bytes : 0
  }

  /** A cluster lost a peer: it stops, the others go on with rings without it. */
  dropCluster(cluster: number): void {
    const { plan } = this
    if (!plan.active.includes(cluster)) return
    const peers = peersOf(plan, cluster)
    this.meters.dropped(peers[0] ?? '')
    for (const peer of peers) this.#stop(peer, 'its cluster lost a PC')
    const next = withActive(
      plan,
      plan.active.filter((other) => other !== cluster),
    )
    this.#plan = next
    const rings = this.#takeRings(next)
    for (const participant of this.#participants.values()) participant.replan(next.number, rings)
  }

  #stop(peer: PeerId, reason: string): void {
    const participant = this.#participants.get(peer)
    if (participant === undefined) return
    this.meters.stale(participant.stage.stats().stalenessCounts)
    participant.stop(reason)
    this.#participants.delete(peer)
  }

  /** Everybody drains and makes a last average; then nobody holds a stage. */
  async drain(): Promise<void> {
    await Promise.all([...this.#participants.values()].map((participant) => participant.finish()))
    this.end('a new plan')
  }

  /** A new plan's weights leave this PC for all others at once. Resolves when they are there, or their PC is not. */
  async handOut(from: PeerId, plan: Plan): Promise<void> {
    const header = { type: 'parameters', job, plan: plan.number, offset: 0, total: 0 } as const
    const stages = plan.layout.clusters.flatMap((cluster) => cluster.stages)
    await Promise.all(
      stages
        .filter(({ peer }) => peer !== from)
        .map(({ peer, layers }) => {
          const arrived = new Promise<void>((resolve) => this.#awaited.set(peer, resolve))
          const message = { header: { ...header, layers }, tensors: [] }
          return this.network.send(from, peer, message).then(
            () => arrived,
            () => undefined,
          )
        }),
    )
    this.#awaited.clear()
  }

  /** A PC is gone from one moment to the next. */
  lose(peer: PeerId): void {
    this.network.sever(peer)
    this.#awaited.get(peer)?.()
  }

  end(reason: string): void {
    for (const peer of [...this.#participants.keys()]) this.#stop(peer, reason)
  }

  positionOf(peer: PeerId): StagePosition | undefined {
    return this.#participants.get(peer)?.seat.position
  }
}
