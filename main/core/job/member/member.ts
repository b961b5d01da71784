/** A member's side of a job: takes a stage, trains it, and tells the host how it goes. The host's own PC is one, too. */
import { BadMessageError, reportOf } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { second } from '../../../../shared/units.ts'
import { Curve } from '../curve.ts'
import { createJobLog, type JobLog } from '../job-log.ts'
import { createLinkProbes, type LinkProbes } from '../link-probes.ts'
import { noProgress, type Report } from '../no-progress.ts'
import { activePeers, positionOf } from '../plan-in-force.ts'
import type { StageSummary } from '../../pipeline/assignment.ts'
import { createWatch, type Watch } from '../watch.ts'
import { Departure, type Outcome } from './departure.ts'
import { type FromHost, type HeaderToHost, messagesFromHost } from './from-host.ts'
import type { Assignment, MemberPorts, Membership } from './member-ports.ts'
import { type MemberEvent, type MemberState, transition } from './member-state.ts'
import { HeardNews } from './heard-news.ts'
import { OwnPause } from './own-pause.ts'
import { createProgressReporter, type ProgressReporter } from './progress.ts'
import { ShardExchange } from './shard-exchange.ts'
import { StageLife } from './stage-life.ts'
import type { StageRun, StageRunHooks } from './stage-run.ts'

/** How often the host hears from us while we train. */
const reportEveryMs = second
/** A cluster sends no more before its first gradient returns. */
const maxEarlyMessages = 1024

export class Member {
  readonly #ports: MemberPorts
  readonly #membership: Membership
  readonly #onChange: () => void
  readonly #watch: Watch
  readonly #probes: LinkProbes
  readonly #shards: ShardExchange
  readonly #fromHost: FromHost
  readonly #life = new AbortController()
  #reporter: ProgressReporter
  #stage: StageLife | undefined
  #preparation: Promise<void> = Promise.resolve()
  #ended: Outcome | undefined
  /** Ended, and the engine is given back. */
  #over = false
  readonly #early: { readonly from: PeerId; readonly message: WireMessage }[] = []
  readonly ownPause: OwnPause
  readonly departure: Departure
  readonly news: HeardNews
  readonly log: JobLog
  readonly curve = new Curve<{ updates: number; loss: number }>()
  state: MemberState = { name: 'waiting', reason: 'in the pool; the host makes the plan' }
  plan: Plan | undefined
  assignment: Assignment | undefined
  lastReport: Report = noProgress

  constructor(ports: MemberPorts, membership: Membership, onChange: () => void) {
    this.#ports = ports
    this.#membership = membership
    this.#onChange = onChange
    this.#watch = createWatch(ports.clock)
    this.#probes = createLinkProbes(ports, membership.job)
    this.#shards = new ShardExchange(ports, membership.job)
    this.#reporter = createProgressReporter(ports)
    this.log = createJobLog(ports)
    this.news = new HeardNews(this.log)
    this.ownPause = new OwnPause({
      self: ports.links.self,
      state: () => this.state,
      become: this.#become.bind(this),
      toHost: this.#toHost.bind(this),
      plan: () => this.plan,
      updates: () => this.#stage?.run?.stats.updates ?? 0,
      averageEvery: () => this.assignment?.spec.recipe.sync.averageEveryUpdates ?? 1,
      holdsStage: () => this.#stage !== undefined,
    })
    this.departure = new Departure({
      ...{ clock: ports.clock, signal: this.#life.signal, log: this.log },
      state: () => this.state,
      become: this.#become.bind(this),
      send: this.#send.bind(this),
      background: this.#background.bind(this),
      end: this.end.bind(this),
    })
    this.#fromHost = messagesFromHost(ports, membership, {
      stage: () => this.#stage,
      probes: this.#probes,
      signal: this.#life.signal,
      take: this.#take.bind(this),
      start: this.#start.bind(this),
      replan: this.#replan.bind(this),
      hear: (news) => {
        if (this.news.hear(news, ports.clock.now())) this.#toHost({ type: 'job-news-request' })
        this.#changed()
      },
      end: this.end.bind(this),
      toHost: this.#toHost.bind(this),
      background: this.#background.bind(this),
    })
  }

  /** Resolves when the job is over for this PC. */
  async ended(): Promise<Outcome> {
    await this.#watch.until(() => this.#over)
    return this.#ended ?? { outcome: 'failed', reason: 'ended without a reason' }
  }

  /** Messages that are not for a host. @throws BadMessageError */
  deliver(from: PeerId, message: WireMessage): void {
    const { type } = message.header
    const fromHost = this.#fromHost[type] as ((message: WireMessage) => void) | undefined
    if (type === 'probe' || type === 'probe-reply') {
      this.#probes.deliver(from, message as WireMessage<'probe' | 'probe-reply'>)
    } else if (type === 'shard-request' || type === 'shard-piece' || type === 'shard-refused') {
      this.#shards.deliver(from, message)
    } else if (fromHost !== undefined) {
      if (from !== this.#membership.host) throw new BadMessageError(`only the host may send ${type}`)
      fromHost(message)
    } else {
      this.#deliverToStage(from, message)
    }
  }

  #deliverToStage(from: PeerId, message: WireMessage): void {
    const run = this.#stage?.run
    // A neighbour may be ready, and hear `start`, before us.
    if (run !== undefined) run.deliver(from, message)
    else if (this.#early.length < maxEarlyMessages) this.#early.push({ from, message })
  }

  #deliverEarly(): void {
    for (const { from, message } of this.#early.splice(0)) {
      try {
        this.#deliverToStage(from, message)
      } catch (error) {
        this.#ports.log('warn', reportOf(error).message)
      }
    }
  }

  #take(assignment: Assignment): void {
    if (assignment.proposal.number <= (this.plan?.number ?? 0)) return // of the past
    const before = this.#stage
    this.#stage = undefined
    this.plan = assignment.proposal
    this.assignment = assignment
    this.lastReport = { ...noProgress, updates: assignment.from.updates }
    this.#shards.use(assignment.spec.data)
    // Counts from here: what was sent to measure the ways is not the job's.
    this.#reporter = createProgressReporter(this.#ports)
    const { self } = this.#ports.links
    const position = positionOf(assignment.proposal, self)
    if (position === undefined) {
      const unused = assignment.proposal.layout.unused.find(({ peer }) => peer === self)
      const reason = unused?.reason ?? 'the plan goes without this PC'
      this.#become({ name: 'left-out', reason, pausing: this.ownPause.isAsked() })
      this.#background(before?.stop('a new plan'))
      return
    }
    const hooks = this.#hooksOf(() => stage)
    const setup = { assignment, position, shards: this.#shards, hooks }
    const stage = new StageLife(this.#ports, this.#membership, setup)
    this.#stage = stage
    this.#become({ name: 'assigned' })
    this.#preparation = this.#prepare(stage, before, this.#preparation)
  }

  /** In turn: a stage that is given up half prepared must not load its layers over the next one's. Never rejects. */
  async #prepare(stage: StageLife, before: StageLife | undefined, earlier: Promise<void>): Promise<void> {
    try {
      await before?.stop('a new plan')
      await earlier
      if (stage.isGivenUp()) return
      await stage.prepare()
      if (stage.isGivenUp()) return
      this.#become({ name: 'stage-ready' })
      this.#deliverEarly()
      this.#toHost({ type: 'stage-ready' })
    } catch (error) {
      if (!stage.isGivenUp()) this.fail(error)
    }
  }

  #hooksOf(stage: () => StageLife): StageRunHooks {
    return {
      onTally: (tally) => {
        this.#reporter.addTraining(tally)
      },
      ...this.ownPause.hooks,
      onFinished: (summary) => {
        this.#background(this.#finish(stage(), summary))
      },
      onFailed: (error) => {
        if (this.#stage === stage()) this.#broken(error)
      },
    }
  }

  async #finish({ run }: StageLife, summary: StageSummary): Promise<void> {
    if (run !== undefined) await this.#report(run)
    this.#become({ name: 'stage-finished' })
    this.#toHost({ type: 'stage-finished', ...summary })
  }

  #start(): void {
    if (this.state.name !== 'ready') return
    this.#become({ name: 'started' })
    this.ownPause.started()
    this.#stage?.run?.start()
    if (this.#stage !== undefined) this.#background(this.#reportRegularly(this.#stage))
  }

  #active(): boolean {
    return this.plan !== undefined && this.#stage?.isActive(this.plan) === true
  }

  #replan(plan: Plan, reason: string): void {
    if (plan.number <= (this.plan?.number ?? 0)) return // of the past
    this.plan = plan
    this.#stage?.run?.replan(plan)
    if (this.#active()) this.#become({ name: 'cluster-active' })
    else {
      this.log.say(`this PC waits: ${reason}`, 'wait')
      this.#become({ name: 'cluster-inactive', reason })
      this.#background(this.#stage?.save())
    }
    this.ownPause.replan(plan)
  }

  async #report(run: StageRun): Promise<void> {
    const report = await this.#reporter.report(run)
    if (run !== this.#stage?.run) return // of a stage that was replaced meanwhile
    this.lastReport = report
    const { training, updates } = this.lastReport
    if (training !== undefined) this.curve.add({ updates, loss: training.lossSum / training.labels })
    this.#toHost({ type: 'progress', ...this.lastReport })
    this.#changed()
  }

  async #reportRegularly({ run, signal }: StageLife): Promise<void> {
    while (run !== undefined && !signal.aborted && this.state.name !== 'finished') {
      await this.#report(run)
      await this.#ports.clock.sleep(reportEveryMs, signal)
    }
  }

  /** A peer is gone: without its host a member stops; a neighbour is the host's business unless only we miss it. */
  lost(peer: PeerId, reason: string): void {
    this.#shards.lost(peer)
    this.#probes.lost(peer)
    if (peer === this.#membership.host) {
      this.#background(this.#endWithoutHost(reason))
      return
    }
    const isNeeded = this.plan !== undefined && activePeers(this.plan).includes(peer)
    if (isNeeded) this.#leaveUnlessReplanned(`cannot reach ${peer} any more: ${reason}`)
  }

  async #endWithoutHost(lostHow: string): Promise<void> {
    const stage = this.#stage
    const gone = `the host is gone (${lostHow})`
    if (stage?.run === undefined) {
      this.end({ outcome: 'failed', code: 'host-lost', reason: gone })
      return
    }
    const kept = await stage.save().then(
      () => 'is saved',
      (error: unknown) => `could not be saved: ${reportOf(error).message}`,
    )
    this.end({ outcome: 'failed', code: 'host-lost', reason: `${gone}; what this PC trained ${kept}` })
  }

  /** The stage stands still. A lost neighbour is the host's business: its next plan goes on without this cluster. */
  #broken(error: unknown): void {
    if (!this.#active()) return
    const { kind, message } = reportOf(error)
    if (kind === 'peer-fault') this.#leaveUnlessReplanned(message)
    else this.fail(error)
  }

  #leaveUnlessReplanned(reason: string): void {
    const number = this.plan?.number
    this.departure.goWithoutNeighbour(reason, () => this.#active() && this.plan?.number === number)
  }

  /** Something broke that this PC cannot repair: tell the host and end. */
  fail(error: unknown): void {
    const { kind, message } = reportOf(error)
    if (kind === 'aborted') return
    this.#ports.log('error', message, { stack: error instanceof Error ? error.stack : undefined })
    this.departure.go({ outcome: 'failed', reason: message })
  }

  end(outcome: Outcome): void {
    if (this.#ended !== undefined) return
    this.#ended = outcome
    this.log.say(`${outcome.outcome}: ${outcome.reason}`, outcome.outcome === 'failed' ? 'warn' : 'info')
    this.#life.abort()
    this.#become({ name: 'ended', reason: outcome.reason })
    this.#background(this.#unload(outcome.reason))
  }

  async #unload(reason: string): Promise<void> {
    try {
      await this.#stage?.stop(reason)
      await this.#preparation
      await this.#ports.engine.unload()
    } finally {
      this.#over = true
      this.#changed()
    }
  }

  #toHost(header: HeaderToHost): void {
    this.#background(this.#send(header))
  }

  #send(header: HeaderToHost): Promise<void> {
    const whole = { ...header, job: this.#membership.job, plan: this.plan?.number ?? 0 }
    return this.#ports.links.send(this.#membership.host, { header: whole, tensors: [] })
  }

  #become(event: MemberEvent): void {
    const next = transition(this.state, event)
    if (next.name !== this.state.name) this.#ports.log('debug', `${this.state.name} → ${next.name}`)
    this.state = next
    this.#changed()
  }

  #changed(): void {
    this.#watch.notify()
    this.#onChange()
  }

  /** Work whose failure has its own way to the surface: lost peers through the links, the rest into the log. */
  #background(work: Promise<unknown> | undefined): void {
    work?.catch((error: unknown) => {
      const { kind, message } = reportOf(error)
      if (kind !== 'aborted') this.#ports.log(kind === 'bug' ? 'error' : 'warn', message)
    })
  }
}
