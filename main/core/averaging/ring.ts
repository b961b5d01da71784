/** One ring of one plan, seen by one member: when a round begins, how it ends, when training must wait for it. */
import { AbortedError, BadMessageError, InvariantError, reportOf } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { HostTensor } from '../../../shared/tensor.ts'
import type {
  AveragingHooks,
  AveragingPorts,
  AveragingSettings,
  MemberRing,
  RoundCounts,
  RoundOutcome,
} from './settings.ts'
import { ChunkInbox } from './chunk-inbox.ts'
import { cutIntoChunks, usualPieceElements } from './chunks.ts'
import { Readiness, lastRound } from './readiness.ts'
import { runRingRound } from './ring-round.ts'
import { arrivalsOf, ringSteps } from './ring-steps.ts'
import { RingVoice } from './ring-voice.ts'
import { type RingPart, ringLength, ringParts } from './snapshot.ts'

/**
 * A drained member is ready for any round, so others may begin the next while it still writes the mean of this one, or
 * one more where that was given up meanwhile. Their chunks wait; of more rounds than this no honest member's would.
 */
const mostAhead = 3

interface RingParts {
  readonly ports: AveragingPorts
  readonly hooks: AveragingHooks
  readonly settings: AveragingSettings
  readonly ring: MemberRing
  /** Of all rings; this one adds to them. */
  readonly counts: RoundCounts
  /** Samples the stage had trained at its copy for the last averaged round of the plan before; 0 at the start. */
  readonly samplesAtRound: number
  /** Samples the stage had trained that others certainly know of. */
  readonly averagedSamples: number
}

interface Running {
  readonly round: number
  readonly abort: AbortController
  /** The others know of its end already. */
  toldByOther: boolean
}

export class Ring {
  readonly index: number
  readonly #parts: RingParts
  readonly #numbers: readonly RingPart[]
  readonly #self: PeerId
  readonly #members: readonly PeerId[]
  readonly #position: number
  readonly #pieceElements: number
  readonly #readiness: Readiness
  readonly #inbox: ChunkInbox
  readonly #voice: RingVoice
  readonly #disposed = new AbortController()
  /** The next regular round. */
  #round = 1
  #readyAtUpdates = 0
  #copyAtUpdates: number
  #samplesAtRound: number
  #averagedSamples: number
  #running: Running | undefined
  /** Members gave up the rounds up to this one. */
  #givenUp = 0
  #deadlineSetFor = 0
  #overdue = 0
  #last: PromiseWithResolvers<RoundOutcome> | undefined
  /** How the last round ended; the ring does nothing more. */
  #closed: RoundOutcome | undefined
  #gate: PromiseWithResolvers<void> | undefined

  constructor(parts: RingParts) {
    const { ports, hooks, settings, ring } = parts
    this.index = ring.index
    this.#parts = parts
    this.#numbers = ringParts(settings.graph, ring.plan.layers)
    this.#self = ports.links.self
    this.#members = ring.plan.members
    this.#position = this.#members.indexOf(this.#self)
    if (this.#position < 0) throw new InvariantError(`this peer is no member of ring ${ring.index}`)
    this.#readiness = new Readiness(this.#members)
    const chunks = cutIntoChunks(ringLength(this.#numbers), this.#members.length)
    const steps = ringSteps(this.#position, this.#members.length)
    this.#pieceElements = settings.pieceElements ?? usualPieceElements
    this.#inbox = new ChunkInbox(arrivalsOf(steps, chunks, this.#pieceElements))
    this.#voice = new RingVoice(parts)
    this.#copyAtUpdates = hooks.progress().updates
    this.#samplesAtRound = parts.samplesAtRound
    this.#averagedSamples = parts.averagedSamples
  }

  /** Somebody else of this ring. */
  hasOther(peer: PeerId): boolean {
    return peer !== this.#self && this.#readiness.isMember(peer)
  }

  get samplesAtRound(): number {
    return this.#samplesAtRound
  }

  /** Of the stage's samples, so many are in the numbers of every member. */
  get averagedSamples(): number {
    return this.#averagedSamples
  }

  /** For a person; empty while it waits for nobody. */
  get waitingFor(): string {
    if (this.#closed !== undefined) return ''
    if (this.#running !== undefined)
      return `waiting for ${this.#neighbour(-1)} to send its part of the average`
    if (!this.#isReady) return ''
    return `waiting for ${this.#readiness.missing(this.#round).join(', ')} to be ready to average`
  }

  get #isReady(): boolean {
    return this.#readiness.isReady(this.#self, this.#round)
  }

  #neighbour(distance: number): PeerId {
    return this.#members.at((this.#position + distance) % this.#members.length) ?? ''
  }

  /** The stage made an update. */
  updated(): void {
    this.#advance()
  }

  /**
   * Undefined while the stage may update; else when to ask again. It may not once it has made H updates since it was
   * ready, or H since its copy while the round runs. In the first case it says "ready" once more, and the others join
   * without their H updates. So whoever waits here waits for engines and links alone, never for another pipeline: no
   * circle of waiting stages can form, whatever H, A and K are and however the clusters are cut.
   */
  gate(): Promise<void> | undefined {
    if (this.#closed !== undefined || this.#last !== undefined) return undefined
    const waiting = this.#isReady ? this.#readyAtUpdates : Infinity
    const since = this.#running === undefined ? waiting : this.#copyAtUpdates
    const { hooks, settings } = this.#parts
    if (hooks.progress().updates - since < settings.averageEvery) return undefined
    if (this.#running === undefined && !this.#readiness.isUrgent(this.#round)) this.#say(this.#round)
    this.#gate ??= Promise.withResolvers()
    return this.#gate.promise
  }

  /** The pipeline has drained: join what others still call for, then the last round. */
  finalRound(): Promise<RoundOutcome> {
    if (this.#closed !== undefined) return Promise.resolve(this.#closed)
    if (this.#last !== undefined) return this.#last.promise
    this.#last = Promise.withResolvers()
    const { promise } = this.#last
    this.#say(lastRound)
    this.#advance()
    return promise
  }

  hearReady(from: PeerId, round: number): void {
    this.#readiness.hear(from, round)
    this.#setDeadline()
    this.#advance()
  }

  /** @throws BadMessageError, and then nothing has changed */
  hearChunk(from: PeerId, header: Header<'chunk'>, tensors: readonly HostTensor[]): void {
    if (from !== this.#neighbour(-1)) throw new BadMessageError(`chunk from ${from}, who is not before us`)
    const { round } = header
    if (this.#closed !== undefined || round < this.#round) return
    const near = round === lastRound || round - this.#round <= (this.#last === undefined ? 0 : mostAhead)
    if (!near || !this.#readiness.isReady(this.#self, round))
      throw new BadMessageError(`chunk of round ${round}, for which this member is not ready`)
    this.#inbox.put(header, tensors)
  }

  hearAbandoned(round: number, reason: string): void {
    if (this.#closed !== undefined || round < this.#round) return
    if (this.#running?.round === round) {
      this.#running.toldByOther = true
      this.#abort(this.#running, reason)
    } else if (round === lastRound) {
      this.#close('abandoned', reason)
    } else {
      this.#givenUp = Math.max(this.#givenUp, round)
      if (this.#running === undefined) this.#skip(reason)
    }
  }

  /** Give up the round that runs or is waited for, and tell the others. Values stay as they are. */
  abandon(reason: string): void {
    if (this.#closed !== undefined) return
    const lastRuns = this.#running?.round === lastRound
    if (this.#running !== undefined) this.#abort(this.#running, reason)
    else if (this.#isReady && this.#readiness.isCalledFor(this.#round)) {
      this.#voice.abandoned(this.#round, reason)
      this.#givenUp = this.#round
      this.#skip(reason)
    }
    if (this.#last === undefined || lastRuns) return
    this.#voice.abandoned(lastRound, reason)
    this.#close('abandoned', reason)
  }

  /** The plan is old: end without a word to anyone. */
  dispose(reason: string): void {
    this.#disposed.abort()
    if (this.#running !== undefined) {
      this.#running.toldByOther = true
      this.#abort(this.#running, reason)
    }
    if (this.#closed === undefined) this.#close('abandoned', reason)
  }

  #abort(running: Running, reason: string): void {
    this.#inbox.fail(running.round, new AbortedError(reason))
    running.abort.abort()
  }

  /** Go on as far as what is known allows. */
  #advance(): void {
    if (this.#running !== undefined || this.#closed !== undefined) return
    if (!this.#isReady && this.#mustBeReady()) {
      this.#readyAtUpdates = this.#parts.hooks.progress().updates
      this.#say(this.#round)
    }
    const round = this.#readiness.beginning(this.#round)
    if (round !== undefined) void this.#run(round)
  }

  #mustBeReady(): boolean {
    const { hooks, settings } = this.#parts
    const made = hooks.progress().updates - this.#copyAtUpdates
    const asked = this.#overdue === this.#round || this.#readiness.isUrgent(this.#round)
    return asked || made >= settings.averageEvery
  }

  async #run(round: number): Promise<void> {
    const { ports, hooks } = this.#parts
    const before = hooks.progress()
    const running: Running = { round, abort: new AbortController(), toldByOther: false }
    this.#running = running
    this.#copyAtUpdates = before.updates
    let reason: string | undefined
    try {
      await runRingRound({
        engine: ports.engine,
        parts: this.#numbers,
        stateVersion: () => hooks.progress().stateVersion,
        position: this.#position,
        members: this.#members.length,
        weight: Math.max(0, before.samples - this.#samplesAtRound),
        signal: running.abort.signal,
        pieceElements: this.#pieceElements,
        send: (parcel) => this.#voice.chunk(round, parcel, running.abort.signal),
        receive: () => this.#inbox.take(round),
        rest: () => ports.clock.sleep(0),
      })
      this.#samplesAtRound = before.samples
      this.#averagedSamples = before.samples
    } catch (error) {
      reason = this.#explain(running, error)
    }
    this.#over(running, reason)
  }

  /** Why a round failed; the others are told unless they said so themselves. */
  #explain(running: Running, error: unknown): string {
    const report = reportOf(error)
    if (!running.toldByOther) this.#voice.abandoned(running.round, report.message)
    if (report.kind !== 'aborted' && report.kind !== 'peer-fault') this.#parts.hooks.onFault?.(error)
    return report.message
  }

  #over({ round }: Running, reason: string | undefined): void {
    this.#running = undefined
    const outcome = reason === undefined ? 'averaged' : 'abandoned'
    if (round === lastRound) {
      this.#close(outcome, reason)
      return
    }
    this.#report(outcome, reason)
    this.#next(Math.max(round, this.#givenUp) + 1)
  }

  /** A round that others gave up never begins. */
  #skip(reason: string): void {
    if (this.#isReady) this.#report('abandoned', reason)
    this.#next(this.#givenUp + 1)
  }

  #next(round: number): void {
    this.#round = round
    this.#inbox.forgetBefore(round)
    this.#openGate()
    this.#advance()
  }

  #close(outcome: RoundOutcome, reason: string | undefined): void {
    const heeded = this.#closed === undefined && this.#last !== undefined
    this.#closed ??= outcome
    if (heeded) this.#report(outcome, reason)
    this.#last?.resolve(this.#closed)
    this.#openGate()
  }

  #report(outcome: RoundOutcome, reason = ''): void {
    this.#parts.counts[outcome] += 1
    this.#parts.hooks.onRound?.({ ring: this.index, outcome, reason })
  }

  #openGate(): void {
    this.#gate?.resolve()
    this.#gate = undefined
  }

  /** Once anybody calls for a round, it begins after the plan's deadline at the latest. */
  #setDeadline(): void {
    const { ports, settings } = this.#parts
    const round = this.#round
    const idle = this.#deadlineSetFor === round || !this.#readiness.isCalledFor(round)
    if (settings.deadlineMs === undefined || idle) return
    this.#deadlineSetFor = round
    const late = () => {
      this.#overdue = round
      this.#advance()
    }
    ports.clock.sleep(settings.deadlineMs, this.#disposed.signal).then(late, () => undefined)
  }

  #say(round: number): void {
    this.#readiness.hear(this.#self, round)
    this.#voice.ready(round)
    this.#setDeadline()
  }
}
