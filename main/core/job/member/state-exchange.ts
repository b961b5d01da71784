/**
 * The numbers of the model on their way at a new plan: what this PC holds of them as they were agreed on at the stop, for
 * itself and for others, until the new plan begins.
 */
import type { PeerId } from '../../../../shared/ids.ts'
import { BadMessageError } from '../../../../shared/errors.ts'
import { layoutOfGraph } from '../../../../shared/model/layout.ts'
import type { Header, WireMessage } from '../../../../shared/messages/wire.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import { checkGraph } from '../../model/check-graph.ts'
import { momentsOf } from '../../model/profile.ts'
import type { StateVector } from '../../ports.ts'
import { readNumbers } from '../checkpoint.ts'
import { Donor } from '../moving/donor.ts'
import { StateFetch } from '../moving/fetch.ts'
import {
  type Held,
  heldOf,
  isSameRun,
  isWithin,
  lengthOf,
  readPortion,
  wholePortion,
  writePortion,
} from '../moving/held.ts'
import { type Model, without } from '../moving/parcels.ts'
import type { Assignment, MemberPorts, Membership } from './member-ports.ts'

/** A run of layers that is here, as one vector and as its views. */
interface Kept extends Held {
  readonly values: Float32Array
}

const overlap = (one: LayerRange, other: LayerRange): LayerRange => [
  Math.max(one[0], other[0]),
  Math.min(one[1], other[1]),
]

/** The stage that this one follows: what its engine holds, once it stands still. */
interface StageBefore {
  readonly layers: LayerRange
  /** Undefined: it was never ready. */
  readonly run: object | undefined
  stop(reason: string): Promise<void>
}

export class StateExchange {
  readonly #ports: MemberPorts
  readonly #membership: Membership
  readonly donor: Donor
  #of = -1
  #model: Model = { layouts: [], vectors: 1 }
  #kept: readonly Kept[] = []
  #fetching: StateFetch | undefined
  /** The engine is being read. */
  #isKeeping = false

  constructor(ports: MemberPorts, membership: Membership) {
    this.#ports = ports
    this.#membership = membership
    this.donor = new Donor(ports, membership.job)
  }

  /**
   * A new plan: what was kept for another stop is worth nothing. The host is a stranger, too: its graph is checked first.
   * @throws InvalidInputError
   */
  open({ spec, state }: Assignment): void {
    if (state.of <= this.#of) return
    this.#of = state.of
    const vectors = state.optimizer ? 1 + momentsOf(spec.recipe.optimizer) : 1
    this.#model = { layouts: layoutOfGraph(checkGraph(spec.graph)), vectors }
    this.#kept = []
    this.donor.open(state.of, this.#model)
    this.donor.offer(state.of, (layers) => this.#find(layers))
  }

  /** The stage before stands still: keep what it knows, if that is what was agreed on. @throws what its engine throws */
  async keep(layers: LayerRange | undefined, { state: { of, keeps } }: Assignment): Promise<void> {
    if (of === this.#of && keeps && layers !== undefined && this.#kept.length === 0)
      this.#add(of, await readNumbers(this.#ports.engine, layers, () => this.#ports.clock.sleep(0)))
    this.donor.settle(of)
  }

  /**
   * In turn: a stage that is given up half prepared must not load its layers over the next one's, and what the engine
   * holds is kept for others before anything is loaded over it.
   * @param earlier - the preparation of the stage before
   * @throws InvalidInputError; what its engine throws
   */
  async handOver(
    assignment: Assignment,
    before: StageBefore | undefined,
    earlier: Promise<void>,
  ): Promise<void> {
    const layers = before?.run === undefined ? undefined : before.layers
    this.#isKeeping = layers !== undefined && assignment.state.keeps
    try {
      await before?.stop('a new plan')
      await earlier
      this.open(assignment)
      await this.keep(layers, assignment)
    } finally {
      this.#isKeeping = false
    }
  }

  #add(of: number, { layers, values }: StateVector): void {
    if (of !== this.#of) return
    const isNew = !this.#kept.some((one) => isWithin(layers, one.layers))
    if (isNew) this.#kept = [...this.#kept, { ...heldOf({ layers, values }, this.#model.vectors), values }]
  }

  /** Whether others may need what is here, or is about to be. */
  get isHolding(): boolean {
    return this.#isKeeping || this.#kept.length > 0
  }

  #find(layers: LayerRange): Kept | undefined {
    return this.#kept.find((one) => isWithin(layers, one.layers))
  }

  /** The numbers of a stage as they were agreed on, if they are kept here. */
  read(layers: LayerRange): StateVector | undefined {
    const kept = this.#kept.find((one) => isSameRun(one.layers, layers))
    return kept === undefined ? undefined : { layers, values: kept.values }
  }

  /**
   * The numbers of a stage: those of layers that are here stay, the others come from whoever holds them. What came of a
   * stage that was given up meanwhile is kept, too.
   * @throws BadMessageError, AbortedError
   */
  async take(
    layers: LayerRange,
    { job, proposal, state }: Assignment,
    signal: AbortSignal,
  ): Promise<StateVector> {
    const { of, donors } = state
    const model = this.#model
    if (of !== this.#of) throw new BadMessageError('the plan goes on with numbers of another stop')
    const same = this.read(layers)
    if (same !== undefined) return same
    const values = new Float32Array(model.vectors * lengthOf(model.layouts, layers))
    const into = heldOf({ layers, values }, model.vectors)
    const wanted = this.#copyKept(into)
    const { host } = this.#membership
    const request = { job, of, plan: proposal.number, model, wanted, donors, host, into, signal }
    const fetching = new StateFetch(this.#ports, request)
    this.#fetching = fetching
    try {
      await fetching.done
      this.#add(of, { layers, values })
    } catch (error) {
      for (const run of fetching.whole) this.#add(of, this.#sliced(into, run))
      throw error
    }
    return { layers, values }
  }

  /** @returns the layers that are not here */
  #copyKept(into: Held): readonly LayerRange[] {
    const { layouts } = this.#model
    const runs: LayerRange[] = []
    for (const kept of this.#kept)
      for (const run of without(overlap(kept.layers, into.layers), runs)) {
        const portion = wholePortion(layouts, run)
        writePortion(layouts, into, { portion, values: readPortion(layouts, kept, portion) })
        runs.push(run)
      }
    return without(into.layers, runs)
  }

  #sliced(held: Held, layers: LayerRange): StateVector {
    const { layouts } = this.#model
    return { layers, values: readPortion(layouts, held, wholePortion(layouts, layers)) }
  }

  /** @throws BadMessageError */
  deliver(from: PeerId, { header, tensors }: WireMessage): void {
    if (header.type === 'state-request') this.donor.deliver(from, header)
    else if (header.type === 'state-piece') this.#fetching?.piece(from, { header, tensors })
    else if (header.type === 'state-refused') this.#fetching?.refused(from, header)
  }

  /** The host knows better who holds what. */
  holders({ of, donors }: Header<'state-holders'>): void {
    if (of === this.#of) this.#fetching?.update(donors)
  }

  lost(peer: PeerId): void {
    this.donor.lost(peer)
    this.#fetching?.lost(peer)
  }

  /** The new plan has begun, or this PC's part has ended. */
  close(): void {
    this.#kept = []
    this.#fetching = undefined
    this.donor.close()
  }
}
