/** An engine that rests: after each piece of work it stays idle until its share of the time is kept. */
import type { Millis } from '../../../shared/units.ts'
import { second } from '../../../shared/units.ts'
import type { Clock, StageEngine } from '../ports.ts'

/** A share that changes while the engine rests holds within so long. */
const longestNap: Millis = second / 4
/** We look so often how a call goes on. Longer between two looks: this PC slept, or this program was stopped. */
const longestLook: Millis = 2 * longestNap

export interface DutySettings {
  /** Share of the time that the engine may work, now; 1 or more: all of it. */
  readonly share: () => number
}

/** The engine, and what its rests came to. */
export interface RestingEngine {
  readonly engine: StageEngine
  /** Of the time that calls took, what was rest. */
  readonly restedMs: () => Millis
  /** Rest no more: whoever waits for a call gets it now. For a job that ends. */
  readonly wake: () => void
}

/** Keeps the order of calls, and the rest between those that compute. */
class DutyCycle {
  readonly #clock: Clock
  readonly #share: () => number
  readonly #awake = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  #unfinished = 0
  #owing = { sinceMs: -Infinity, workedMs: 0 }
  restedMs: Millis = 0

  constructor(clock: Clock, { share }: DutySettings) {
    this.#clock = clock
    this.#share = share
  }

  wake(): void {
    this.#awake.abort()
  }

  /** After every call made before. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    // Nothing waits and nothing may: straight to the engine, which keeps the order itself.
    if (this.#unfinished === 0 && this.#share() >= 1) return run()
    this.#unfinished++
    const result = this.#last.then(run)
    const done = () => {
      this.#unfinished--
    }
    this.#last = result.then(done, done)
    return result
  }

  /** After every call made before, and after the rest that the last work owes. */
  work<T>(call: () => Promise<T>): Promise<T> {
    return this.inTurn(async () => {
      await this.#rest()
      // Nothing to rest for: timers around each call cost a small one a third of its time.
      if (this.#share() >= 1) return call()
      const workedMs = this.#watchWork()
      try {
        return await call()
      } finally {
        this.#owing = { workedMs: workedMs(), sinceMs: this.#clock.now() }
      }
    })
  }

  /** From now on. A laptop whose lid was closed in the middle of a call owes no rest for the night. */
  #watchWork(): () => Millis {
    const over = new AbortController()
    let workedMs = 0
    let seenMs = this.#clock.now()
    const look = () => {
      const nowMs = this.#clock.now()
      workedMs += Math.min(longestLook, nowMs - seenMs)
      seenMs = nowMs
    }
    const again = (): void => {
      this.#clock.sleep(longestNap, over.signal).then(
        () => {
          look()
          again()
        },
        () => undefined, // the call is over
      )
    }
    again()
    return () => {
      over.abort()
      look()
      return workedMs
    }
  }

  #restLeftMs(): Millis {
    const share = Math.min(1, this.#share())
    if (share >= 1 || this.#awake.signal.aborted) return 0
    return this.#owing.sinceMs + this.#owing.workedMs * (1 / share - 1) - this.#clock.now()
  }

  async #rest(): Promise<void> {
    const startedMs = this.#clock.now()
    for (let left = this.#restLeftMs(); left > 0; left = this.#restLeftMs())
      await this.#clock
        .sleep(Math.min(Math.ceil(left), longestNap), this.#awake.signal)
        .catch(() => undefined)
    this.restedMs += this.#clock.now() - startedMs
  }
}

/**
 * A duty cycle around the calls that compute. The rest that a call owes is taken before the next call that computes:
 * results are not held back, and time in which the engine had nothing to do counts as rest.
 *
 * Calls keep the order in which they were made. With share s and calls of t ms, calls begin at least t/s ms apart.
 */
export function createRestingEngine(
  engine: StageEngine,
  clock: Clock,
  settings: DutySettings,
): RestingEngine {
  const cycle = new DutyCycle(clock, settings)
  return {
    restedMs: () => cycle.restedMs,
    wake: () => {
      cycle.wake()
    },
    engine: {
      backend: engine.backend,
      forward: (request) => cycle.work(() => engine.forward(request)),
      forwardLoss: (request) => cycle.work(() => engine.forwardLoss(request)),
      backward: (...given) => cycle.work(() => engine.backward(...given)),
      update: () => cycle.work(() => engine.update()),
      infer: (...given) => cycle.work(() => engine.infer(...given)),
      judge: (input, labels) => cycle.work(() => engine.judge(input, labels)),
      load: (setup) => cycle.inTurn(() => engine.load(setup)),
      discard: (microBatch) => cycle.inTurn(() => engine.discard(microBatch)),
      readState: (layers) => cycle.inTurn(() => engine.readState(layers)),
      writeState: (state) => cycle.inTurn(() => engine.writeState(state)),
      addToState: (state) => cycle.inTurn(() => engine.addToState(state)),
      readOptimizer: () => cycle.inTurn(() => engine.readOptimizer()),
      writeOptimizer: (state) => cycle.inTurn(() => engine.writeOptimizer(state)),
      memory: () => cycle.inTurn(() => engine.memory()),
      unload: () => cycle.inTurn(() => engine.unload()),
    },
  }
}
