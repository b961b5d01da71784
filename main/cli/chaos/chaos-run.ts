/** The run itself: gather, train, do the faults at their times and undo them, then finish and see what came out. */
import { setTimeout as sleep } from 'node:timers/promises'
import { reportOf } from '../../../shared/errors.ts'
import type { JobFile } from '../../../shared/job/spec.ts'
import { minute, second, type Millis } from '../../../shared/units.ts'
import { JobFailedError } from '../errors.ts'
import type { EndedJob } from '../follow.ts'
import { ChaosPool, type ChaosPoolSetup } from './chaos-pool.ts'
import { deeds } from './deeds.ts'
import { Pulse, secondsOf, type Stall } from './pulse.ts'
import { ChaosRecord, type Blow } from './record.ts'
import { peerName, type Fault } from './schedule.ts'
import { Sight } from './sight.ts'

/** Six agents that start at once on a small machine take their time. */
const trainsWithinMs = 3 * minute
/** After the last fault is undone: a peer that was lost tries to come back at least once a minute. */
const calmWithinMs = 90 * second
const endsWithinMs = 3 * minute
/** A pause or a resume that takes longer is not timed: something else happened to the PC. */
const heededWithinMs = 20 * second

export interface ChaosSetup extends ChaosPoolSetup {
  readonly job: JobFile
  readonly peers: number
  /** So many PCs can hold the model. */
  readonly depth: number
  readonly faults: readonly Fault[]
  readonly durationMs: Millis
  readonly signal: AbortSignal
  readonly tell: (text: string, atMs: Millis | undefined) => void
  readonly event: (event: { readonly event: string } & Readonly<Record<string, unknown>>) => void
}

/** What was seen, whether or not the job came to a good end. */
export interface ChaosSeen {
  readonly record: ChaosRecord
  readonly pulse: Pulse
}

export class ChaosRun {
  readonly #setup: ChaosSetup
  readonly #sight: Sight
  readonly #pool: ChaosPool
  readonly #record = new ChaosRecord()
  /** PCs on which something is wrong just now. */
  readonly #unwell = new Set<string>()
  readonly #undoing = new Set<Promise<void>>()
  readonly #calm = new AbortController()
  #living: number
  #beganMs: Millis | undefined
  #pulse = new Pulse(0)

  constructor(setup: ChaosSetup) {
    this.#setup = setup
    this.#living = setup.peers
    this.#sight = new Sight({
      onSamples: (peer, samples) => {
        const stall = this.#pulse.see(peer, samples, this.#atMs)
        if (stall !== undefined) this.#noteStall(stall)
      },
      onHostSays: (text) => {
        this.#record.hostSays(text, this.#atMs)
      },
      onLog: (text) => {
        this.#tell(`      ${text}`)
      },
    })
    this.#pool = new ChaosPool(setup, this.#sight)
  }

  get seen(): ChaosSeen {
    return { record: this.#record, pulse: this.#pulse }
  }

  /** Since the training began; 0 before. */
  get #atMs(): Millis {
    return this.#beganMs === undefined ? 0 : performance.now() - this.#beganMs
  }

  #tell(text: string): void {
    this.#setup.tell(text, this.#beganMs === undefined ? undefined : this.#atMs)
  }

  /** @throws JobFailedError when the pool does not train, or does not come to its end; AbortError on the signal */
  async live(): Promise<EndedJob> {
    try {
      await this.#begin()
      await this.#trouble()
      await this.#settle()
      return await this.#finish()
    } finally {
      this.#close()
      await this.#pool.end()
    }
  }

  async #begin(): Promise<void> {
    const { peers, job, signal } = this.#setup
    const names = Array.from({ length: peers }, (_, index) => peerName(index))
    this.#tell(`${peers} agents start`)
    await this.#pool.gather(names, job)
    await this.#until('the training', () => this.#trains(), trainsWithinMs)
    signal.throwIfAborted()
    this.#beganMs = performance.now()
    this.#pulse = new Pulse(0)
    this.#tell('the pool trains; from here on things go wrong')
  }

  #until(what: string, holds: () => boolean, withinMs: Millis): Promise<void> {
    return this.#sight.until(what, () => this.#isOver() || holds(), {
      withinMs,
      signal: this.#setup.signal,
    })
  }

  #trains(): boolean {
    const job = this.#sight.host?.job
    return job?.phase === 'training' && job.updates > 0
  }

  #isOver(): boolean {
    return (this.#sight.host?.job.result ?? null) !== null
  }

  /** For the whole time, or until the job ends by itself. */
  async #trouble(): Promise<void> {
    const { faults, durationMs } = this.#setup
    for (const fault of faults) {
      await this.#rest(fault.atMs)
      if (this.#isOver()) return
      await this.#inflict(fault)
    }
    await this.#rest(durationMs)
  }

  async #rest(untilMs: Millis): Promise<void> {
    const { signal } = this.#setup
    while (this.#atMs < untilMs && !this.#isOver())
      await sleep(Math.max(1, Math.min(second, untilMs - this.#atMs)), undefined, { signal })
  }

  async #inflict(fault: Fault): Promise<void> {
    const { kind, peer, lastsMs } = fault
    if (kind === 'leave' && this.#sight.host?.name === peer) {
      this.#tell(`${peer} was to leave, but it hosts the job now`)
      return
    }
    const blow = this.#record.hit(fault, this.#atMs)
    this.#setup.event({
      event: 'fault',
      kind,
      peer,
      atSeconds: this.#atMs / second,
      lastsSeconds: lastsMs / second,
    })
    if (kind === 'join') {
      this.#later(() => this.#newcomer(blow))
      return
    }
    const deed = deeds[kind]
    this.#tell(`${peer} ${deed.said}`)
    this.#mark(peer, false)
    await this.#try(blow, () => deed.does(this.#pool.get(peer)))
    if (kind === 'kill') this.#sight.forget(peer)
    if (kind === 'pause') this.#time(blow, 'paused')
    if (kind === 'leave') this.#goodbye(peer)
    else this.#later(() => this.#undo(blow))
  }

  async #newcomer(blow: Blow): Promise<void> {
    const { peer } = blow.fault
    this.#tell(`${peer} comes and wants to join`)
    await this.#try(blow, async () => {
      await this.#pool.join(peer)
      this.#living++
      this.#mark(peer, true)
      blow.overMs = this.#atMs
    })
  }

  #goodbye(peer: string): void {
    this.#pool.forget(peer)
    this.#unwell.delete(peer)
    this.#living--
    this.#mark(peer, true)
  }

  async #undo(blow: Blow): Promise<void> {
    const { kind, peer, lastsMs } = blow.fault
    if (kind === 'join') return
    const { over, undoes } = deeds[kind]
    const { signal } = this.#setup
    await sleep(lastsMs, undefined, { signal: AbortSignal.any([signal, this.#calm.signal]) }).catch(
      () => undefined,
    )
    if (signal.aborted) return
    await this.#try(blow, async () => {
      await undoes(this.#pool.get(peer))
      blow.overMs = this.#atMs
      this.#mark(peer, true)
      this.#tell(`${peer} ${over}`)
    })
    if (kind === 'pause') this.#time(blow, 'training')
  }

  /** How long its owner waits for what was asked of a PC, as far as two looks a second can tell. */
  #time(blow: Blow, phase: 'paused' | 'training'): void {
    const { peer } = blow.fault
    const beganMs = performance.now()
    const { signal } = this.#setup
    const holds = () => this.#sight.phaseOf(peer) === phase
    this.#later(async () => {
      const heeded = this.#sight.until(`${peer}: ${phase}`, holds, { withinMs: heededWithinMs, signal })
      const isInTime = await heeded.then(
        () => true,
        () => false,
      )
      if (!isInTime) return
      const seconds = Math.round((performance.now() - beganMs) / 100) / 10
      if (phase === 'paused') blow.pausedSeconds = seconds
      else blow.resumedSeconds = seconds
    })
  }

  #mark(peer: string, well: boolean): void {
    if (well) this.#unwell.delete(peer)
    else this.#unwell.add(peer)
    this.#pulse.enough(this.#living - this.#unwell.size >= this.#setup.depth, this.#atMs)
  }

  #later(work: () => Promise<void>): void {
    const under = work().finally(() => this.#undoing.delete(under))
    this.#undoing.add(under)
  }

  /** What cannot be done is told, and the run goes on: the timeline has it. */
  async #try(blow: Blow, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      blow.failed = reportOf(thrown).message
      if (!this.#setup.signal.aborted) this.#tell(`${blow.fault.kind} of ${blow.fault.peer}: ${blow.failed}`)
    }
  }

  #noteStall(stall: Stall): void {
    const blow = this.#record.note(stall)
    const seconds = secondsOf(stall)
    const after = blow === undefined ? '' : ` (${blow.fault.kind} of ${blow.fault.peer})`
    this.#setup.event({ event: 'stall', seconds, atSeconds: stall.fromMs / second })
    this.#tell(`the pool trains again after ${seconds.toFixed(1)} s${after}`)
  }

  /** Undo what is not undone yet, and wait until the pool trains. */
  async #settle(): Promise<void> {
    this.#tell('the time is over; everything is put right')
    this.#calm.abort()
    await Promise.all(this.#undoing)
    await this.#until('the training after the last fault', () => this.#trains(), calmWithinMs)
    this.#close()
  }

  #close(): void {
    const stall = this.#pulse.end(this.#atMs)
    if (stall !== undefined) this.#record.note(stall)
  }

  async #finish(): Promise<EndedJob> {
    const { host } = this.#sight
    if (host === undefined) throw new JobFailedError('no peer hosts the job any more')
    if (!this.#isOver()) await this.#pool.get(host.name).command('finish', {})
    await this.#until('the end of the job', () => false, endsWithinMs)
    const job = this.#sight.host?.job
    const result = job?.result ?? null
    if (job === undefined || result === null) throw new JobFailedError('the job is gone without a result')
    if (result.outcome === 'failed') throw new JobFailedError(`the job failed: ${result.reason}`)
    return { ...job, result }
  }
}
