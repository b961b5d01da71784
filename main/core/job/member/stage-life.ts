/** One assignment of this PC from plan to end: load the engine, fetch shards, take the weights, then train. */
import { BadMessageError, reportOf } from '../../../../shared/errors.ts'
import type { LayerRange } from '../../../../shared/model/graph.ts'
import type { Plan, StagePosition } from '../../../../shared/plan/plan.ts'
import { writeNumbers } from '../checkpoint.ts'
import { checkGraph } from '../../model/check-graph.ts'
import type { Assignment, MemberPorts, Membership } from './member-ports.ts'
import type { ShardExchange } from './shard-exchange.ts'
import { StageRun, type StageRunHooks } from './stage-run.ts'
import type { StateExchange } from './state-exchange.ts'

export interface StageLifeSetup {
  readonly assignment: Assignment
  readonly position: StagePosition
  readonly shards: ShardExchange
  readonly state: StateExchange
  readonly hooks: StageRunHooks
}

export class StageLife {
  readonly #ports: MemberPorts
  readonly #membership: Membership
  readonly #setup: StageLifeSetup
  readonly #end = new AbortController()
  readonly layers: LayerRange
  readonly #recompute: boolean | undefined
  /** There once everything is ready. */
  run: StageRun | undefined
  /** The host said start. */
  isBegun = false

  /** @throws BadMessageError when the plan has no such stage */
  constructor(ports: MemberPorts, membership: Membership, setup: StageLifeSetup) {
    const { assignment, position } = setup
    const stage = assignment.proposal.layout.clusters[position.cluster]?.stages[position.stage]
    if (stage === undefined) throw new BadMessageError('the plan has no such stage')
    this.#ports = ports
    this.#membership = membership
    this.#setup = setup
    this.layers = stage.layers
    this.#recompute = stage.recompute
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Told to start, and no neighbour missed. */
  isUnderWay(): boolean {
    return this.isBegun && this.run?.isBroken === false
  }

  /** Another stage took its place. */
  isGivenUp(): boolean {
    return this.#end.signal.aborted
  }

  /**
   * @param inForce - the plan when this stage is ready: others may have begun meanwhile
   * @throws InvalidInputError for a graph that is none; DeviceMemoryError, CorruptShardError, DiskFullError, AbortedError
   */
  async prepare(inForce: () => Plan | undefined): Promise<StageRun> {
    const { assignment, position, hooks } = this.#setup
    const { spec } = assignment
    await this.#loadEngine()
    await this.#takeNumbers()
    await this.#fetchShards()
    const batches = this.#ports.store.open(spec.data, spec)
    this.run = new StageRun(this.#ports, { assignment, position, batches, hooks })
    const now = inForce()
    const isNewer = now !== undefined && now.number > assignment.proposal.number
    if (isNewer && !this.isGivenUp()) this.run.replan(now)
    return this.run
  }

  async #loadEngine(): Promise<void> {
    const { assignment, position } = this.#setup
    const { recipe, seed } = assignment.spec
    // The host is a stranger, too: its graph is checked before anything is built from it.
    const graph = checkGraph(assignment.spec.graph)
    await this.#ports.engine.load({
      graph,
      layers: this.layers,
      optimizer: recipe.optimizer,
      learningRate: recipe.learningRate,
      ...(recipe.clipNorm === undefined ? {} : { clipNorm: recipe.clipNorm }),
      // Clusters draw their own dropout masks, and other ones when the training goes on under a later plan.
      seed: (seed + position.cluster + assignment.from.updates) >>> 0,
      memoryBudgetBytes: this.#membership.memoryBytes,
      ...(this.#recompute === undefined ? {} : { recompute: this.#recompute }),
    })
  }

  /** Fetched when there is an engine that could hold the stage within the budget. */
  async #takeNumbers(): Promise<void> {
    const { assignment, state } = this.#setup
    const { spec, from } = assignment
    const { engine } = this.#ports
    const { graph, recipe } = spec
    const numbers = await state.take(this.layers, assignment, this.signal)
    if (!assignment.state.optimizer) await engine.writeState(numbers)
    else await writeNumbers(engine, numbers, { graph, optimizer: recipe.optimizer, updates: from.updates })
    this.#sayTaken()
  }

  /** A host that is gone asks again when it is back. */
  #sayTaken(): void {
    const { job, proposal } = this.#setup.assignment
    const header = { type: 'state-taken' as const, job, plan: proposal.number }
    this.#ports.links.send(this.#membership.host, { header, tensors: [] }).catch(() => undefined)
  }

  /** The root needs inputs, the leaf labels. The host has every shard on its own disk. */
  async #fetchShards(): Promise<void> {
    const { assignment, position, shards } = this.#setup
    const depth = assignment.proposal.layout.clusters[position.cluster]?.stages.length ?? 0
    const { host } = this.#membership
    await shards.fetch({
      reads: { inputs: position.stage === 0, labels: position.stage === depth - 1 },
      sources: host === this.#ports.links.self ? [] : [host],
      planNumber: () => assignment.proposal.number,
      signal: this.signal,
    })
  }

  /** Whether the cluster of this stage trains under a plan. */
  isActive(plan: Plan): boolean {
    return plan.active.includes(this.#setup.position.cluster)
  }

  /** Keep what this stage learned on disk. @throws DiskFullError */
  async save(): Promise<void> {
    if (this.run === undefined || !this.isBegun) return
    const state = await this.#ports.engine.readState(this.layers)
    await this.#ports.vault.saveStage(this.#membership.job, { updates: this.run.stats.updates, state })
  }

  /** Keep it; the end of a sentence that says whether that went well. Empty for a stage that never trained. */
  async saveInWords(): Promise<string> {
    // Ready is not begun: what it would save is what the pool gave it.
    if (this.run === undefined || !this.isBegun) return ''
    const kept = await this.save().then(
      () => 'is saved',
      (error: unknown) => `could not be saved: ${reportOf(error).message}`,
    )
    return `; what this PC trained ${kept}`
  }

  /** Resolves when the engine works for it no more. */
  async stop(reason: string): Promise<void> {
    this.#end.abort()
    await this.run?.stop(reason)
  }
}
