/** One ring of one plan, seen by one member: when a round begins, how it ends, when training must wait for it. */
import { AbortedError, BadMessageError, InvariantError, reportOf } from '../../../shared/errors.ts'
import type { PeerId } from '../../../shared/ids.ts'
import type { Header } from '../../../shared/messages/wire.ts'
import type { HostTensor } from '../../../shared/tensor.ts'
import type { Millis } from '../../../shared/units.ts'
import type { RingParts, RoundOutcome } from './settings.ts'
import { ChunkInbox } from './chunk-inbox.ts'
import { usualPieceElements } from './chunks.ts'
import type { Retired } from './aftermath.ts'
import { Deadline } from './deadline.ts'
import { Gate } from './gate.ts'
import { Readiness, lastRound } from './readiness.ts'
import { runRingRound } from './ring-round.ts'
import { arrivalsOf } from './ring-steps.ts'
import { RingVoice } from './ring-voice.ts'
import { Running } from './running.ts'
import { type RingPart, ringLength, ringParts } from './snapshot.ts'

/**
 * A drained member is ready for any round, so others may begin the next while it still writes the mean of this one, or
 * one more where that was given up meanwhile. Their chunks wait; of more rounds than this no honest member's would.
 */
const mostAhead = 3

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
  readonly #deadline: Deadline
  readonly #gate: Gate
  /** The next regular round. */
  #round = 1
  #readyAtUpdates = 0
  #copyAtUpdates: number
  #samplesAtRound: number
  #averagedSamples: number
  #running: Running | undefined
  #runOver: Promise<void> = Promise.resolve()
  /** The last round that was committed; 0: none. */
  #committed = 0
  #retired = false
  /** Members gave up the rounds up to this one. */
  #givenUp = 0
  #last: PromiseWithResolvers<RoundOutcome> | undefined
  /** How the last round ended; the ring does nothing more. */
  #closed: RoundOutcome | undefined
  /** When we said that we can train no further, of the next round; undefined: not yet. */
  #stuckSinceMs: Millis | undefined
  /** A round was late, and training goes on so far without. */
  #releasedAtUpdates = -Infinity

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
    const [length, members] = [ringLength(this.#numbers), this.#members.length]
    const pieceElements = settings.pieceElements ?? usualPieceElements(length, members)
    const place = { position: this.#position, members, length, pieceElements }
    this.#pieceElements = pieceElements
    this.#inbox = new ChunkInbox(() => arrivalsOf(place))
    this.#voice = new RingVoice(parts)
    this.#deadline = new Deadline(ports.clock, settings.deadlineMs)
    this.#gate = new Gate(ports.clock)
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
    if (this.#running !== undefined) return this.#running.waitingFor(this.#neighbour(-1))
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
   * circle of waiting stages can form, whatever H, A and K are and however the clusters are cut. And when what it waits
   * for is late it makes H more: one frozen PC does not stop the others. Without most of the ring it goes on waiting,
   * for then it is we who are cut off.
   */
  gate(): Promise<void> | undefined {
    if (this.#closed !== undefined || this.#last !== undefined) return undefined
    const running = this.#running
    const waiting = this.#isReady ? this.#readyAtUpdates : Infinity
    const since = Math.max(running === undefined ? waiting : this.#copyAtUpdates, this.#releasedAtUpdates)
    const { updates } = this.#parts.hooks.progress()
    if (updates - since < this.#parts.settings.averageEvery) return undefined
    const release = () => {
      this.#releasedAtUpdates = updates
      return true
    }
    if (running !== undefined) return this.#gate.wait('round', running.beganMs, release)
    const { clock } = this.#parts.ports
    this.#stuckSinceMs ??= clock.now()
    if (!this.#readiness.isUrgent(this.#round)) this.#say(this.#round)
    return this.#gate.wait('ready', this.#stuckSinceMs, () => this.#hasQuorum && release())
  }

  /** More than half of the ring is ready. */
  get #hasQuorum(): boolean {
    return 2 * this.#readiness.missing(this.#round).length < this.#members.length
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

  hearWhole(from: PeerId, round: number): void {
    if (this.#running?.round === round) this.#running.hearWhole(from)
  }

  hearAbandoned(round: number, reason: string): void {
    if (this.#closed !== undefined || round < this.#round) return
    if (this.#running?.round === round) {
      // Who holds the mean passes it on: a member that may be dying told us, and perhaps not all.
      this.#running.toldByOther = !this.#running.inDoubt
      this.#abort(this.#running, reason)
    } else if (round === lastRound) {
      this.#close('abandoned', reason)
    } else {
      this.#givenUp = Math.max(this.#givenUp, round)
      if (this.#running === undefined) this.#skip(reason)
    }
  }

  /**
   * Give up the round that runs or is waited for, and tell the others. Values stay as they are. One in doubt is the
   * business of all.
   */
  abandon(reason: string): void {
    if (this.#closed !== undefined || this.#running?.isOfAll === true) return
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

  /** The plan is old: end without a word to anyone but of a round in doubt, which goes on until it is decided. */
  retire(reason: string): Retired {
    this.#deadline.end()
    this.#retired = true
    const running = this.#running
    if (running !== undefined && !running.inDoubt) {
      running.toldByOther = true
      this.#abort(running, reason)
    }
    if (running?.round === lastRound) this.#endLast('abandoned')
    else if (this.#closed === undefined) this.#close('abandoned', reason)
    return {
      ...{ planNumber: this.#parts.settings.planNumber, ring: this.index, committed: this.#committed },
      ...{ others: this.#members.filter((peer) => peer !== this.#self), running, over: this.#runOver },
    }
  }

  #abort(running: Running, reason: string): void {
    running.giveUp(reason)
    this.#inbox.fail(running.round, new AbortedError(reason))
  }

  /** Go on as far as what is known allows. */
  #advance(): void {
    if (this.#running !== undefined || this.#closed !== undefined) return
    if (!this.#isReady && this.#mustBeReady()) {
      this.#readyAtUpdates = this.#parts.hooks.progress().updates
      this.#say(this.#round)
    }
    const round = this.#parts.mayBegin() ? this.#readiness.beginning(this.#round) : undefined
    if (round !== undefined) this.#runOver = this.#run(round)
  }

  #mustBeReady(): boolean {
    const { hooks, settings } = this.#parts
    const made = hooks.progress().updates - this.#copyAtUpdates
    const asked = this.#deadline.isOver(this.#round) || this.#readiness.isUrgent(this.#round)
    return asked || made >= settings.averageEvery
  }

  async #run(round: number): Promise<void> {
    const { ports, hooks } = this.#parts
    const before = hooks.progress()
    const running = new Running(round, this.#members, ports.clock.now())
    this.#running = running
    if (this.#stuckSinceMs !== undefined) this.#gate.see('ready', this.#stuckSinceMs)
    this.#gate.open()
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
        agree: () => this.#agree(running),
        pieceElements: this.#pieceElements,
        send: (parcel) => this.#voice.chunk(round, parcel, running.signal),
        receive: () => this.#inbox.take(round),
        rest: () => ports.clock.sleep(0),
      })
      this.#gate.see('round', running.beganMs)
      this.#samplesAtRound = before.samples
      this.#averagedSamples = before.samples
    } catch (error) {
      reason = this.#explain(running, error)
    }
    this.#over(running, reason)
  }

  #agree(running: Running): Promise<void> {
    const agreed = running.becomeWhole(this.#self)
    if (!running.signal.aborted) this.#voice.whole(running.round)
    return agreed
  }

  /** Why a round failed; the others are told unless they said so themselves. */
  #explain(running: Running, error: unknown): string {
    const report = reportOf(error)
    if (!running.toldByOther && !running.committed && !this.#retired)
      this.#voice.abandoned(running.round, report.message)
    if (report.kind !== 'aborted' && report.kind !== 'peer-fault') this.#parts.hooks.onFault?.(error)
    return report.message
  }

  #over({ round }: Running, reason: string | undefined): void {
    this.#running = undefined
    const outcome = reason === undefined ? 'averaged' : 'abandoned'
    if (outcome === 'averaged') this.#committed = round
    if (this.#retired) {
      this.#report(outcome, reason)
      return
    }
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
    this.#stuckSinceMs = undefined
    this.#inbox.forgetBefore(round)
    this.#gate.open()
    this.#advance()
  }

  #close(outcome: RoundOutcome, reason: string | undefined): void {
    const heeded = this.#closed === undefined && this.#last !== undefined
    if (heeded) this.#report(outcome, reason)
    this.#endLast(outcome)
  }

  #endLast(outcome: RoundOutcome): void {
    this.#closed ??= outcome
    this.#last?.resolve(this.#closed)
    this.#gate.open()
  }

  #report(outcome: RoundOutcome, reason = ''): void {
    this.#parts.counts[outcome] += 1
    this.#parts.hooks.onRound?.({ ring: this.index, outcome, reason })
  }

  #setDeadline(): void {
    if (this.#readiness.isCalledFor(this.#round)) this.#deadline.set(this.#round, () => { this.#advance() }) // prettier-ignore
  }

  #say(round: number): void {
    this.#readiness.hear(this.#self, round)
    this.#voice.ready(round)
    this.#setDeadline()
  }
}
