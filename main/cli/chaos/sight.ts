/** What the control sockets of all agents tell of the job, put together. */
import type { JobView, Snapshot } from '../../../shared/messages/control.ts'
import type { Millis } from '../../../shared/units.ts'
import { JobFailedError } from '../errors.ts'
import { harmless } from '../view/columns.ts'

export interface SightHooks {
  /** Samples that this peer has trained in its present stage. */
  readonly onSamples: (peer: string, samples: number) => void
  /** The host's phase, with its reason. */
  readonly onHostSays: (text: string) => void
  /** A new line of the host's log. */
  readonly onLog: (text: string) => void
}

interface Waiter {
  readonly holds: () => boolean
  readonly settle: () => void
}

export class Sight {
  readonly #hooks: SightHooks
  readonly #jobs = new Map<string, JobView>()
  readonly #waiters = new Set<Waiter>()
  #loggedMs: Millis = 0

  constructor(hooks: SightHooks) {
    this.#hooks = hooks
  }

  see(name: string, { self, job }: Snapshot): void {
    if (job === null) this.#jobs.delete(name)
    else {
      this.#jobs.set(name, job)
      const own = job.members.find(({ peer }) => peer === self)
      if (own !== undefined) this.#hooks.onSamples(name, own.samples)
      if (job.role === 'host') this.#hear(job)
    }
    for (const waiter of [...this.#waiters]) if (waiter.holds()) waiter.settle()
  }

  #hear({ phase, text, log }: JobView): void {
    this.#hooks.onHostSays(harmless(text === phase ? text : `${phase}: ${text}`))
    for (const line of log) if (line.atMs > this.#loggedMs) this.#hooks.onLog(harmless(line.text))
    this.#loggedMs = Math.max(this.#loggedMs, ...log.map(({ atMs }) => atMs))
  }

  /** Where the job is in its life, as this peer shows it. */
  phaseOf(name: string): JobView['phase'] | undefined {
    return this.#jobs.get(name)?.phase
  }

  /** It is gone; what it showed is of the past. */
  forget(name: string): void {
    this.#jobs.delete(name)
  }

  /** The peer that hosts the job, with what it shows; undefined while none does. */
  get host(): { readonly name: string; readonly job: JobView } | undefined {
    const hosts = [...this.#jobs].filter(([, job]) => job.role === 'host')
    // One that lost its place to another has a result, and shows it for a while.
    const [name, job] = hosts.find(([, { result }]) => result === null) ?? hosts[0] ?? []
    return name === undefined || job === undefined ? undefined : { name, job }
  }

  /** @throws JobFailedError after the deadline; AbortError on the signal */
  async until(
    what: string,
    holds: () => boolean,
    { withinMs, signal }: { readonly withinMs: Millis; readonly signal: AbortSignal },
  ): Promise<void> {
    if (holds()) return
    signal.throwIfAborted()
    const done = Promise.withResolvers<undefined>()
    const waiter: Waiter = {
      holds,
      settle: () => {
        done.resolve(undefined)
      },
    }
    const stop = (): void => {
      done.reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      const { host } = this
      const shows =
        host === undefined ? 'no peer hosts the job' : `the host shows “${harmless(host.job.text)}”`
      done.reject(new JobFailedError(`${what} did not come within ${withinMs / 1000} s; ${shows}`))
    }, withinMs)
    this.#waiters.add(waiter)
    signal.addEventListener('abort', stop, { once: true })
    try {
      await done.promise
    } finally {
      clearTimeout(timer)
      this.#waiters.delete(waiter)
      signal.removeEventListener('abort', stop)
    }
  }
}
