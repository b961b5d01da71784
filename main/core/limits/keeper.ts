/** Keeps an owner's limits while a job is under way: pauses it, and lets it go on when nothing holds it back any more. */
import type { Conditions, Limits, LimitState } from '../../../shared/limits.ts'
import { minute, second, type Millis } from '../../../shared/units.ts'
import type { Clock, Log } from '../ports.ts'
import { judgeLimits, pauseReason } from './judge.ts'
import { programsThatRun } from './programs.ts'

/** Every limit is in force within a second. */
const lookEveryMs = second
const programsEveryMs = 5 * second
const batteryEveryMs = 30 * second
/** What the desktop said of keyboard and mouse is old after this, of the battery after that: it may be gone. */
const idleHoldsMs = 2 * minute
const batteryHoldsMs = 10 * minute

/** A pause that the user asked for, perhaps until a moment (ms since 1970). */
export interface UserPause {
  readonly untilMs: Millis | null
}

/** Local time. */
export interface WallTime extends Pick<Conditions, 'weekday' | 'minuteOfDay'> {
  /** Since 1970. */
  readonly epochMs: Millis
}

/** A pause that waits for the end of an averaging round, and how long it is to last from then on. */
export interface PauseAfterRound {
  readonly forMs: Millis | null
}

/** The job as far as a pause goes. All may be said again and again. */
export interface Pausable {
  pause(): void
  /** False: no round is under way, and it pauses at once. */
  pauseAfterRound(): boolean
  resume(): void
}

export interface KeeperPorts {
  readonly clock: Clock
  readonly wall: () => WallTime
  readonly log: Log
  readonly limits: () => Limits
  /** Whether this PC runs on battery; undefined: it has none, or nobody can tell. */
  readonly battery: () => Promise<boolean | undefined>
  /** Names of all programs that run. */
  readonly programs: () => Promise<readonly string[]>
  /** Remember the user's pause for the next start. */
  readonly keepPause: (pause: UserPause | null) => void
  readonly onChange: () => void
}

/** Something asked of the machine now and again, never twice at once. */
class Probe<T> {
  readonly #ask: () => Promise<T>
  readonly #everyMs: Millis
  #askedMs = -Infinity
  #asking = false
  value: T | undefined

  constructor(everyMs: Millis, ask: () => Promise<T>) {
    this.#ask = ask
    this.#everyMs = everyMs
  }

  /** Ask when it is time; `then` when there is an answer. A question that fails leaves the answer unknown. */
  refresh(nowMs: Millis, then: () => void): void {
    if (this.#asking || nowMs - this.#askedMs < this.#everyMs) return
    this.#asking = true
    this.#askedMs = nowMs
    void this.#ask()
      .catch(() => undefined)
      .then((value) => {
        this.#asking = false
        this.value = value
        then()
      })
  }

  forget(): void {
    this.#askedMs = -Infinity
    this.value = undefined
  }
}

export class LimitKeeper {
  readonly #ports: KeeperPorts
  readonly #battery: Probe<boolean | undefined>
  readonly #programs: Probe<readonly string[]>
  #hasNoBattery = false
  #told: { readonly atMs: Millis; readonly onBattery: boolean; readonly idleSeconds: number } | undefined
  #userPause: UserPause | null
  #afterRound: PauseAfterRound | null = null
  #job: Pausable | undefined
  #shown = ''
  #held: string | undefined

  /** @param userPause - as it was kept at the last end */
  constructor(ports: KeeperPorts, userPause: UserPause | null) {
    this.#ports = ports
    this.#userPause = userPause
    this.#battery = new Probe(batteryEveryMs, ports.battery)
    this.#programs = new Probe(programsEveryMs, ports.programs)
  }

  /** How every limit stands now. */
  states(): readonly LimitState[] {
    return judgeLimits(this.#ports.limits(), this.#conditions())
  }

  /** The user's pause, as long as it holds. */
  get userPause(): UserPause | null {
    const { untilMs = null } = this.#userPause ?? {}
    return untilMs !== null && untilMs <= this.#ports.wall().epochMs ? null : this.#userPause
  }

  /** The user's pause that is not in force yet: the round goes on. */
  get pauseAfterRound(): PauseAfterRound | null {
    return this.#afterRound
  }

  /** For so long, or until `resume`. Counts for the job under way and for those to come. */
  pause(forMs?: Millis): void {
    this.#setPause(this.#pauseFrom(forMs ?? null))
  }

  /** The same from the end of the averaging round on; at once where none is under way. */
  pauseWhenRoundEnds(forMs?: Millis): void {
    this.#userPause = null
    this.#afterRound = { forMs: forMs ?? null }
    // Should the agent end before the round does, the next start finds the pause.
    this.#ports.keepPause(this.#pauseFrom(this.#afterRound.forMs))
    this.apply()
  }

  resume(): void {
    this.#setPause(null)
  }

  #pauseFrom(forMs: Millis | null): UserPause {
    return { untilMs: forMs === null ? null : this.#ports.wall().epochMs + forMs }
  }

  /** What the desktop knows better than we do. */
  tell(power: { readonly onBattery: boolean; readonly idleSeconds: number }): void {
    this.#told = { atMs: this.#ports.clock.now(), ...power }
    this.apply()
  }

  /** Keep the limits of a job until the signal. */
  async keep(job: Pausable, signal: AbortSignal): Promise<void> {
    this.#job = job
    this.#held = undefined
    try {
      while (!signal.aborted) {
        this.apply()
        await this.#ports.clock.sleep(lookEveryMs, signal)
      }
    } catch {
      // The job is over.
    } finally {
      if (this.#job === job) this.#job = undefined
      if (this.#afterRound !== null) this.apply()
    }
  }

  /** Look and act now: a limit or a condition changed. */
  apply(): void {
    if (this.#job !== undefined) this.#lookAround()
    const states = this.states()
    const pause = this.userPause
    if (pause === null && this.#userPause !== null) this.#setPause(null)
    else if (this.#afterRound !== null && !this.#roundGoesOn(states))
      this.pause(this.#afterRound.forMs ?? undefined)
    else {
      if (this.#afterRound === null) this.#act(pause === null ? pauseReason(states) : 'You paused it.')
      this.#show(JSON.stringify([states, pause, this.#afterRound]))
    }
  }

  /** A limit that pauses this PC ends the round for it, too. */
  #roundGoesOn(states: readonly LimitState[]): boolean {
    return pauseReason(states) === undefined && this.#job?.pauseAfterRound() === true
  }

  #setPause(pause: UserPause | null): void {
    this.#afterRound = null
    this.#userPause = pause
    this.#ports.keepPause(pause)
    this.apply()
  }

  /** Said at every look: a pause that came too early, or that the job has gone over since, is made again. */
  #act(reason: string | undefined): void {
    if (this.#job === undefined) return
    if (this.#held !== reason) {
      this.#held = reason
      this.#ports.log(
        'info',
        reason === undefined ? 'nothing holds this PC back' : `this PC pauses: ${reason}`,
      )
    }
    if (reason === undefined) this.#job.resume()
    else this.#job.pause()
  }

  #show(shown: string): void {
    if (shown === this.#shown) return
    this.#shown = shown
    this.#ports.onChange()
  }

  /** The machine is asked only for what a limit turns on, and only while a job is under way. */
  #lookAround(): void {
    const nowMs = this.#ports.clock.now()
    const { pausePrograms, trainOnBattery } = this.#ports.limits()
    const again = () => {
      this.apply()
    }
    if (pausePrograms.length === 0) this.#programs.forget()
    else this.#programs.refresh(nowMs, again)
    if (trainOnBattery || this.#hasNoBattery || this.#toldWithin(batteryHoldsMs) !== undefined) return
    this.#battery.refresh(nowMs, () => {
      this.#hasNoBattery = this.#battery.value === undefined
      again()
    })
  }

  #toldWithin(ms: Millis) {
    const told = this.#told
    return told !== undefined && this.#ports.clock.now() - told.atMs <= ms ? told : undefined
  }

  #conditions(): Conditions {
    const { weekday, minuteOfDay } = this.#ports.wall()
    const onBattery = this.#toldWithin(batteryHoldsMs)?.onBattery ?? this.#battery.value
    const idleSeconds = this.#toldWithin(idleHoldsMs)?.idleSeconds
    return {
      ...(onBattery === undefined ? {} : { onBattery }),
      ...(idleSeconds === undefined ? {} : { idleSeconds }),
      programs: programsThatRun(this.#ports.limits().pausePrograms, this.#programs.value ?? []),
      ...{ weekday, minuteOfDay },
    }
  }
}
