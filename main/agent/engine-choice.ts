/**
 * The engine of this PC where its owner leaves the choice: the fastest backend that computes rightly.
 *
 * Every engine answers two questions whose answers are known before it is used, and is passed over when it is wrong.
 * Speeds are measured once and kept (`edge/device/benchmark-cache.ts`), and only where an accelerator is installed. What
 * failed on the way is passed over until the PC slept or the agent starts anew. Nothing runs while nobody computes.
 */
import { InvalidInputError, reportOf } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import { type FlopsPerSecond, type Millis, minute } from '../../shared/units.ts'
import { whyWrong } from '../core/job/known-answer.ts'
import type { Log } from '../core/ports.ts'
import type { EngineThread } from './agent-parts.ts'

/** As the settings name it. */
export type Backend = Exclude<Settings['engine']['backend'], 'auto'>

/** A wall clock so far ahead of the one that only runs while the PC does: it slept. */
const sleptAfter: Millis = minute
/** The engine itself is gone, or what it computes on. */
const fatal = new Set(['engine-died', 'device-lost'])

export interface EngineChoicePorts {
  readonly accelerators: readonly Backend[]
  readonly onProcessor: readonly Backend[]
  readonly open: (backend: Backend) => Promise<EngineThread>
  /** Of an engine that computes rightly; kept or measured. Absent: the first that is right is taken. */
  readonly speedOf?: (engine: EngineThread) => Promise<FlopsPerSecond>
  readonly log: Log
  /** Milliseconds since 1970, and of a clock that stands while the PC sleeps. */
  readonly wallMs?: () => Millis
  readonly awakeMs?: () => Millis
}

export class EngineChoice {
  readonly #ports: EngineChoicePorts
  readonly #failed = new Set<Backend>()
  #sleptMs: Millis
  /** Fastest first; found when first needed. */
  #order: readonly Backend[] | undefined

  constructor(ports: EngineChoicePorts) {
    this.#ports = ports
    this.#sleptMs = this.#asleepMs()
  }

  /** A new engine, checked, on the fastest backend. @throws InvalidInputError when none computes rightly */
  async start(): Promise<EngineThread> {
    this.#forgetAfterSleep()
    this.#order ??= await this.#bySpeed()
    for (const backend of this.#order) {
      if (this.#failed.has(backend)) continue
      const engine = await this.#tryOut(backend)
      if (engine !== undefined) return this.#watched(backend, engine)
    }
    throw new InvalidInputError(
      'no engine computes rightly on this PC; `rookery bench device` says what is wrong with each',
    )
  }

  #asleepMs(): Millis {
    const { wallMs = Date.now, awakeMs = () => performance.now() } = this.#ports
    return wallMs() - awakeMs()
  }

  #passOver(backend: Backend, reason: string): void {
    this.#failed.add(backend)
    this.#order = undefined
    this.#ports.log('warn', `the engine ${backend} is passed over: ${reason}`)
  }

  /** After a sleep, drivers may be others: everything is asked again. @returns whether it slept */
  #forgetAfterSleep(): boolean {
    const slept = this.#asleepMs() - this.#sleptMs
    this.#sleptMs = this.#asleepMs()
    if (Math.abs(slept) < sleptAfter) return false
    this.#failed.clear()
    this.#order = undefined
    return true
  }

  /** Open and ask. @returns undefined when it is passed over */
  async #tryOut(backend: Backend): Promise<EngineThread | undefined> {
    let engine: EngineThread | undefined
    let wrong: string | undefined
    try {
      engine = await this.#ports.open(backend)
      wrong = await whyWrong(engine)
    } catch (thrown) {
      wrong = reportOf(thrown).message
    }
    if (wrong === undefined) return engine
    await engine?.stop()
    this.#passOver(backend, wrong)
    return undefined
  }

  async #bySpeed(): Promise<readonly Backend[]> {
    const { accelerators, onProcessor, speedOf } = this.#ports
    const able = accelerators.filter((backend) => !this.#failed.has(backend))
    if (able.length === 0 || speedOf === undefined) return onProcessor
    const measured: { readonly backend: Backend; readonly speed: FlopsPerSecond }[] = []
    for (const backend of [...able, ...onProcessor.slice(0, 1)]) {
      const engine = await this.#tryOut(backend)
      if (engine === undefined) continue
      try {
        measured.push({ backend, speed: await speedOf(engine) })
      } catch (thrown) {
        this.#passOver(backend, reportOf(thrown).message)
      } finally {
        await engine.stop()
      }
    }
    const fastest = measured.toSorted((a, b) => b.speed - a.speed).map(({ backend }) => backend)
    return [...new Set([...fastest, ...onProcessor])]
  }

  /** Its device may have gone with the sleep: another engine on it is asked, and it is ended if that is wrong. */
  async #askAfterSleep(backend: Backend, engine: EngineThread): Promise<void> {
    const other = await this.#tryOut(backend)
    if (other === undefined) await engine.stop()
    else await other.stop()
  }

  /** The same engine, whose end is noticed. */
  #watched(backend: Backend, engine: EngineThread): EngineThread {
    const mayChange = this.#ports.accelerators.includes(backend)
    const watch = (call: (...inputs: never[]) => Promise<unknown>) => {
      return async (...inputs: never[]) => {
        if (this.#forgetAfterSleep() && mayChange) void this.#askAfterSleep(backend, engine)
        try {
          return await call(...inputs)
        } catch (thrown) {
          const { code, message } = reportOf(thrown)
          if (fatal.has(code) && !this.#failed.has(backend)) this.#passOver(backend, message)
          throw thrown
        }
      }
    }
    const calls = Object.entries(engine).map(([name, value]: [string, unknown]) => {
      const isCall = typeof value === 'function' && name !== 'stop'
      return [name, isCall ? watch(value as (...inputs: never[]) => Promise<unknown>) : value]
    })
    return Object.fromEntries(calls) as EngineThread
  }
}
