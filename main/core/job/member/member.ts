/** A member's side of a job: takes a stage, trains it, and tells the host how it goes. The host's own PC is one, too. */
import { reportOf } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { Header, WireMessage } from '../../../../shared/messages/wire.ts'
import type { Plan } from '../../../../shared/plan/plan.ts'
import { createJobLog, type JobLog } from '../job-log.ts'
import { createLinkProbes, type LinkProbes } from '../link-probes.ts'
import type { Report } from '../no-progress.ts'
import { activePeers, positionOf } from '../plan-in-force.ts'
import type { StageSummary } from '../../pipeline/assignment.ts'
import { createWatch, type Watch } from '../watch.ts'
import { Departure, type Outcome } from './departure.ts'
import { EarlyMessages } from './early-messages.ts'
import { messagesFromHost } from './from-host.ts'
import { deliverTo, type InboxParts } from './inbox.ts'
import type { Assignment, MemberPorts, Membership } from './member-ports.ts'
import { type MemberEvent, type MemberState, transition } from './member-state.ts'
import { HeardNews } from './heard-news.ts'
import { OwnPause } from './own-pause.ts'
import { ShardExchange } from './shard-exchange.ts'
import { StageLife } from './stage-life.ts'
import { Post } from './post.ts'
import { StateExchange } from './state-exchange.ts'
import { StageReporting } from './stage-reporting.ts'
import { heldStage, type StageRunHooks } from './stage-run.ts'
import { WithoutHost, type WithoutHostPorts } from './without-host.ts'

export class Member {
  readonly #ports: MemberPorts
  readonly #membership: Membership
  readonly #onChange: () => void
  readonly #watch: Watch
  readonly #probes: LinkProbes
  readonly #shards: ShardExchange
  readonly #inbox: InboxParts
  readonly #life = new AbortController()
  readonly #post: Post
  readonly #reporting: StageReporting
  #stage: StageLife | undefined
  #preparation: Promise<void> = Promise.resolve()
  #ended: Outcome | undefined
  /** Ended, and the engine is given back. */
  #over = false
  readonly #early: EarlyMessages
  /** The model's numbers, on their way at a new plan. */
  readonly numbers: StateExchange
  readonly ownPause: OwnPause
  readonly departure: Departure
  readonly withoutHost: WithoutHost
  readonly news: HeardNews
  readonly log: JobLog
  state: MemberState = { name: 'waiting', reason: 'in the pool; the host makes the plan' }
  plan: Plan | undefined
  assignment: Assignment | undefined

  constructor(ports: MemberPorts, membership: Membership, onChange: () => void) {
    this.#ports = ports
    this.#membership = membership
    this.#onChange = onChange
    this.#watch = createWatch(ports.clock)
    this.#probes = createLinkProbes(ports, membership.job)
    this.#shards = new ShardExchange(ports, membership.job)
    this.numbers = new StateExchange(ports, membership)
    this.#post = new Post(ports, membership, () => this.plan?.number ?? 0)
    this.#early = new EarlyMessages(ports.log)
    this.#reporting = new StageReporting(ports, {
      run: () => this.#stage?.run,
      ...{ toHost: this.#post.toHost, changed: this.#changed.bind(this) },
      isFinished: () => this.state.name === 'finished',
      hostIsGone: () => this.withoutHost.isGone,
    })
    this.log = createJobLog(ports)
    this.news = new HeardNews(this.log)
    this.ownPause = new OwnPause({
      ...{ self: ports.links.self, toHost: this.#post.toHost, become: this.#become.bind(this) },
      ...{ state: () => this.state, plan: () => this.plan, stage: () => this.#stage },
      averageEvery: () => this.assignment?.spec.recipe.sync.averageEveryUpdates ?? 1,
      ...{ clock: ports.clock, signal: this.#life.signal, background: this.#post.background },
    })
    this.departure = new Departure({
      ...{ clock: ports.clock, signal: this.#life.signal, log: this.log, background: this.#post.background },
      ...{ state: () => this.state, hostIsGone: () => this.withoutHost.isGone },
      ...{ holding: () => this.numbers.isHolding, tellBroken: this.#tellWhatIsHeld.bind(this) },
      ...{ become: this.#become.bind(this), end: this.end.bind(this), send: this.#post.send },
    })
    this.withoutHost = new WithoutHost(this.#withoutHostPorts())
    const fromHost = messagesFromHost(ports, membership, {
      ...{ stage: () => this.#stage, state: this.numbers, probes: this.#probes, signal: this.#life.signal },
      ...{ take: this.#take.bind(this), start: this.#start.bind(this) },
      ...{ standBy: this.#standBy.bind(this), replan: this.#replan.bind(this), end: this.end.bind(this) },
      ...{ toHost: this.#post.toHost, background: this.#post.background },
      hear: (news) => {
        if (this.news.hear(news, ports.clock.now())) this.#post.toHost({ type: 'job-news-request' })
        this.#changed()
      },
    })
    this.#inbox = {
      ...{
        host: membership.host,
        fromHost,
        probes: this.#probes,
        shards: this.#shards,
        numbers: this.numbers,
      },
      isDeputy: (peer) => this.withoutHost.isDeputy(peer),
      toStage: this.#deliverToStage.bind(this),
    }
  }

  #withoutHostPorts(): WithoutHostPorts {
    return {
      ...{ self: this.#ports.links.self, host: this.#membership.host, clock: this.#ports.clock },
      ...{ signal: this.#life.signal, log: this.log },
      ...{ plan: () => this.plan, held: this.#held.bind(this), replan: this.#replan.bind(this) },
      ...{ toHost: this.#post.send, tell: this.#post.tell, background: this.#post.background },
      trains: () => this.#active() && this.#stage?.isUnderWay() === true && this.state.name !== 'finished',
      onBack: () => {
        this.#tellWhatIsHeld()
        this.ownPause.tellAgain()
        if (this.#stage?.run !== undefined) this.#reporting.tellAgain()
      },
      giveUp: this.#endWithoutHost.bind(this),
    }
  }

  get lastReport(): Report {
    return this.#reporting.last
  }

  get curve(): StageReporting['curve'] {
    return this.#reporting.curve
  }

  /** Resolves when the job is over for this PC. */
  async ended(): Promise<Outcome> {
    await this.#watch.until(() => this.#over)
    return this.#ended ?? { outcome: 'failed', reason: 'ended without a reason' }
  }

  /** Messages that are not for a host. @throws BadMessageError */
  deliver(from: PeerId, message: WireMessage): void {
    this.withoutHost.heard(from)
    deliverTo(this.#inbox, from, message)
  }

  #deliverToStage(from: PeerId, message: WireMessage): void {
    const run = this.#stage?.run
    if (run !== undefined) run.deliver(from, message)
    else this.#early.keep(from, message)
  }

  #take(assignment: Assignment): void {
    if (assignment.proposal.number <= (this.plan?.number ?? 0)) return // of the past
    const before = this.#stage
    this.#stage = undefined
    this.plan = assignment.proposal
    this.assignment = assignment
    this.#reporting.begin(assignment.from.updates)
    this.#shards.use(assignment.spec.data)
    const { self } = this.#ports.links
    const position = positionOf(assignment.proposal, self)
    if (position === undefined) {
      const unused = assignment.proposal.layout.unused.find(({ peer }) => peer === self)
      this.#leftOut(unused?.reason ?? 'the plan goes without this PC')
      this.#preparation = this.#handOver(assignment, before, this.#preparation)
      return
    }
    const hooks = this.#hooksOf(() => stage)
    const setup = { assignment, position, shards: this.#shards, state: this.numbers, hooks }
    const stage = new StageLife(this.#ports, this.#membership, setup)
    this.#stage = stage
    this.#become({ name: 'assigned' })
    this.#preparation = this.#handOver(assignment, before, this.#preparation).then(() => this.#prepare(stage))
  }

  #leftOut(reason: string): void {
    this.#become({ name: 'left-out', reason, pausing: this.ownPause.isAsked() })
  }

  /** The pool went on without this stage. */
  #standBy(reason: string): void {
    const stage = this.#stage
    this.#stage = undefined
    this.#leftOut(reason)
    this.#post.background(stage?.stop('a new plan'))
  }

  /** Never rejects. @param earlier - the preparation of the stage before */
  #handOver(assignment: Assignment, before: StageLife | undefined, earlier: Promise<void>): Promise<void> {
    return this.numbers.handOver(assignment, before, earlier).catch(this.fail.bind(this))
  }

  /** Never rejects. */
  async #prepare(stage: StageLife): Promise<void> {
    try {
      if (stage.isGivenUp()) return
      await stage.prepare(() => this.plan)
      if (stage.isGivenUp()) return
      this.#become({ name: 'stage-ready' })
      this.#early.deliver(this.#deliverToStage.bind(this))
      this.#post.toHost({ type: 'stage-ready' })
    } catch (error) {
      if (!stage.isGivenUp()) this.fail(error)
    }
  }

  #hooksOf(stage: () => StageLife): StageRunHooks {
    return {
      onTally: (tally) => {
        this.#reporting.addTraining(tally)
      },
      ...this.ownPause.hooks,
      onFinished: (summary) => {
        this.#post.background(this.#finish(stage(), summary))
      },
      onFailed: (error) => {
        if (this.#stage === stage()) this.#broken(error)
      },
    }
  }

  async #finish({ run }: StageLife, summary: StageSummary): Promise<void> {
    if (run !== undefined) await this.#reporting.report(run)
    this.#become({ name: 'stage-finished' })
    this.#post.toHost({ type: 'stage-finished', ...summary })
  }

  #start({ plan, made = 0, giving = false }: Header<'start'>): void {
    if (plan < (this.plan?.number ?? 0)) return // of the past
    if (!giving) this.numbers.close()
    // Whoever has asked to leave meanwhile trains until it is let go.
    const stage = this.#stage
    if (stage?.run === undefined || stage.isBegun) return
    stage.isBegun = true
    this.#become({ name: 'started' })
    this.ownPause.started()
    stage.run.start(made)
    this.#post.background(this.#reporting.regularly(stage, made))
  }

  #active(): boolean {
    return this.plan !== undefined && this.#stage?.isActive(this.plan) === true
  }

  #replan(plan: Plan, reason: string): void {
    if (plan.number <= (this.plan?.number ?? 0)) return // of the past
    const wasActive = this.#active()
    this.plan = plan
    this.#stage?.run?.replan(plan)
    if (this.#active()) {
      // One that rests while its cluster is active goes on resting.
      if (!wasActive) this.ownPause.wake()
    } else {
      this.log.say(`this PC waits: ${reason}`, 'wait')
      this.#become({ name: 'cluster-inactive', reason })
      this.#post.background(this.#stage?.save())
      this.#tellWhatIsHeld()
    }
    this.ownPause.replan(plan)
  }

  #held() {
    return heldStage(this.#stage?.run, this.assignment, this.ownPause.isAsked())
  }

  /** Whether the cluster of this stage can go on where it stands is for the host to know, once it stands still. */
  #tellWhatIsHeld(): void {
    if (!this.withoutHost.isGone) this.#post.toHost({ type: 'stage-report', ...this.#held() })
  }

  /** A peer is gone. A neighbour is the host's business unless only we miss it. */
  lost(peer: PeerId, reason: string): void {
    this.#shards.lost(peer)
    this.#probes.lost(peer)
    this.numbers.lost(peer)
    const brokeNow = this.#stage?.run?.missedNeighbour(peer) === true
    this.withoutHost.lost(peer, reason)
    if (brokeNow && !this.#active()) this.#tellWhatIsHeld()
    const isNeeded = this.plan !== undefined && activePeers(this.plan).includes(peer)
    if (isNeeded) this.#leaveUnlessReplanned(`cannot reach ${peer} any more: ${reason}`)
    this.#changed()
  }

  async #endWithoutHost(gone: string): Promise<void> {
    const kept = await this.#stage?.saveInWords()
    this.end({ outcome: 'failed', code: 'host-lost', reason: `${gone}${kept ?? ''}` })
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
    const isStillNeeded = () => this.#active() && this.plan?.number === number && !this.withoutHost.isGone
    this.departure.goWithoutNeighbour(reason, isStillNeeded)
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
    this.#post.background(this.#unload(outcome.reason))
  }

  async #unload(reason: string): Promise<void> {
    try {
      await this.#stage?.stop(reason)
      await this.#preparation
      this.numbers.close()
      await this.#ports.engine.unload()
    } finally {
      this.#over = true
      this.#changed()
    }
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
}
