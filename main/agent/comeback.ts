/** A job outlives its agent: after a crash, a restart or a lost host this PC goes back to the one it joined or hosted. */
import { z } from 'zod'
import { reportOf } from '../../shared/errors.ts'
import { parseInvite } from '../../shared/invite.ts'
import type { JobResult } from '../../shared/messages/control.ts'
import { hour, minute, second, type Millis } from '../../shared/units.ts'
import type { Clock, Log } from '../core/ports.ts'
import { clonedIdentity } from '../edge/swarm/links/hello.ts'
import type { KeptFile } from './kept-file.ts'

/** A host that is not back by then was ended for good, or its PC is off. */
const givesUpAfterMs = 12 * hour
const firstWaitMs = second
/** A host's agent that crashed is back by then: nobody should add much to that. */
const soonMs = minute
const longestSoonMs = 2 * second
const longestWaitMs = minute
/** A host's agent that was just started answers before it has opened its job again. */
const unknownForMs = minute

/** Codes of results: the host is gone, or a neighbour that only this PC cannot reach. */
const comesBackAfter: ReadonlySet<string> = new Set(['host-lost', 'neighbour-lost'])

export const joinedFile = z.object({ invite: z.string().max(4096).nullable() })

export interface ComebackPorts {
  /** Where the job that was joined is remembered. */
  readonly file: KeptFile<z.infer<typeof joinedFile>>
  readonly log: Log
  readonly clock: Clock
  /** Take part by an invite that may have expired since. @throws as joining does */
  readonly join: (invite: string) => Promise<unknown>
  /** Go on with the job that this agent hosted when it ended. False when there is none, or it cannot go on. */
  readonly hostAgain: () => Promise<boolean>
  /** Nothing else stands at a door just now. */
  readonly isFree: () => boolean
  readonly onChange: () => void
}

export class Comeback {
  readonly #ports: ComebackPorts
  #attempts: { readonly end: AbortController; readonly over: Promise<void> } | undefined
  #agentEnds = false
  /** The name of the job that we try to come back to. */
  to: string | null = null

  constructor(ports: ComebackPorts) {
    this.#ports = ports
  }

  /** Keep the job in mind until it ends otherwise than by the loss of its host or of this agent. */
  async remember(invite: string, ended: Promise<Pick<JobResult, 'code'>>): Promise<void> {
    await this.#keep(invite)
    void ended.then(async ({ code }) => {
      if (this.#agentEnds) return
      if (comesBackAfter.has(code)) void this.#start(invite)
      else await this.#keep(null)
    })
  }

  /** The agent has started: go back where it was. Resolves when it is there, or gave up. */
  async begin(): Promise<void> {
    if (await this.#ports.hostAgain()) return
    const invite = (await this.#ports.file.read())?.invite ?? null
    if (invite !== null) await this.#start(invite)
  }

  /** The owner wants another job. Resolves when no attempt is under way. */
  async forget(): Promise<void> {
    await this.#stop()
    await this.#keep(null)
  }

  /** The agent ends; the next one comes back. */
  async end(): Promise<void> {
    this.#agentEnds = true
    await this.#stop()
  }

  async #stop(): Promise<void> {
    this.#attempts?.end.abort()
    await this.#attempts?.over
  }

  async #keep(invite: string | null): Promise<void> {
    await this.#ports.file.write({ invite }).catch((error: unknown) => {
      this.#ports.log('warn', 'after a restart this agent will not know its job', { error: String(error) })
    })
  }

  async #start(invite: string): Promise<void> {
    const { log, onChange } = this.#ports
    this.to = nameOf(invite)
    if (this.to === null) return this.#keep(null)
    const end = new AbortController()
    const over = this.#attempt(invite, end.signal)
      .catch((error: unknown) => {
        if (!end.signal.aborted) log('error', 'the way back into the job broke', { error: String(error) })
      })
      .finally(() => {
        this.to = null
        onChange()
      })
    this.#attempts = { end, over }
    onChange()
    await over
  }

  async #attempt(invite: string, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#ports
    const untilMs = clock.now() + givesUpAfterMs
    const soonUntilMs = clock.now() + soonMs
    let unknownSinceMs: Millis | undefined
    const next = (waitMs: Millis) => nextWait(waitMs, clock.now() < soonUntilMs)
    for (let waitMs: Millis = 0; clock.now() < untilMs; waitMs = next(waitMs)) {
      await clock.sleep(waitMs, signal)
      if (!this.#ports.isFree()) continue
      try {
        await this.#ports.join(invite)
        return
      } catch (error) {
        const { code, message } = reportOf(error)
        log('info', `not back in the job yet: ${message}`)
        if (code === 'peer-lost') continue
        // The next start comes back, as the peer that this PC is then.
        if (code === clonedIdentity) return
        // Whoever answered and said no means it.
        if (code !== 'unknown-job') break
        unknownSinceMs ??= clock.now()
        if (clock.now() - unknownSinceMs >= unknownForMs) break
      }
    }
    await this.#keep(null)
  }
}

const nextWait = (waitMs: Millis, isSoon: boolean): Millis =>
  Math.min(isSoon ? longestSoonMs : longestWaitMs, Math.max(firstWaitMs, 2 * waitMs))

function nameOf(invite: string): string | null {
  try {
    return parseInvite(invite, 0).name
  } catch {
    return null
  }
}
