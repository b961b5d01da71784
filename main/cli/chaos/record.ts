/** What happened in a chaos run, in the order of time: what was done to whom, what the host said, when nobody trained. */
import type { Millis, Seconds } from '../../../shared/units.ts'
import { secondsOf, type Stall } from './pulse.ts'
import type { Fault } from './schedule.ts'

/** A fault that was made, with what became of it. */
export interface Blow {
  readonly fault: Fault
  readonly atMs: Millis
  /** When it was undone, if it was. */
  overMs?: Millis
  /** Why it could not be made, or undone. */
  failed?: string
  /** Of a pause: from the owner's word until the PC rested, and from `resume` until it trained. */
  pausedSeconds?: Seconds
  resumedSeconds?: Seconds
  /** The times in which nobody trained because of it, or because of its end. */
  readonly stalls: { readonly stall: Stall; readonly recoverySeconds: Seconds }[]
}

/** What a host showed from a moment on. */
interface Saying {
  readonly atMs: Millis
  readonly text: string
}

/** Reports come once a second: what happens so soon after the last one may be why there is no other. */
const noticedLateMs = 1500

export class ChaosRecord {
  readonly blows: Blow[] = []
  readonly #sayings: Saying[] = []

  hit(fault: Fault, atMs: Millis): Blow {
    const blow: Blow = { fault, atMs, stalls: [] }
    this.blows.push(blow)
    return blow
  }

  hostSays(text: string, atMs: Millis): void {
    if (this.#sayings.at(-1)?.text !== text) this.#sayings.push({ atMs, text })
  }

  /** A stall is over: it belongs to what was done last before it began. */
  note(stall: Stall): Blow | undefined {
    const cause = this.causeOf(stall)
    if (cause === undefined) return undefined
    const recoverySeconds = secondsOf({ fromMs: Math.min(cause.atMs, stall.toMs), toMs: stall.toMs })
    cause.blow.stalls.push({ stall, recoverySeconds })
    return cause.blow
  }

  causeOf(stall: Stall): { readonly blow: Blow; readonly atMs: Millis } | undefined {
    const moments = this.blows.flatMap((blow) => [
      { blow, atMs: blow.atMs },
      ...(blow.overMs === undefined ? [] : [{ blow, atMs: blow.overMs }]),
    ])
    const before = moments.filter(({ atMs }) => atMs <= stall.fromMs + noticedLateMs)
    return before.sort((a, b) => a.atMs - b.atMs).at(-1)
  }

  /** What the host showed while nobody trained, each with its seconds; the longest first. */
  saidDuring({ fromMs, toMs }: Stall): { readonly text: string; readonly seconds: Seconds }[] {
    const parts = this.#sayings.map(({ atMs, text }, index) => ({
      text,
      fromMs: Math.max(fromMs, atMs),
      toMs: Math.min(toMs, this.#sayings[index + 1]?.atMs ?? Infinity),
    }))
    return parts
      .filter((part) => part.toMs > part.fromMs)
      .map((part) => ({ text: part.text, seconds: secondsOf(part) }))
      .sort((a, b) => b.seconds - a.seconds)
  }
}
