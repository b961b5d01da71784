/** Time that moves only when told, or when everything waits for it. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../main/core/ports.ts'
import { AbortedError, InvariantError } from '../../shared/errors.ts'
import type { Millis } from '../../shared/units.ts'

interface Sleeper {
  readonly due: Millis
  /** Breaks ties: who slept first wakes first. */
  readonly order: number
  readonly wake: () => void
}

export interface VirtualClock extends Clock {
  /** Let so much time pass; sleepers wake one by one in order, each seeing its own moment. */
  advance(duration: Millis): Promise<void>
  /** Let time pass as needed until the promise settles. @throws InvariantError when nothing sleeps and it never will */
  runUntil<T>(promise: Promise<T>): Promise<T>
  /** Let everything that needs no time happen. */
  settle(): Promise<void>
  /** How often somebody's wait came to its end by time. */
  woken(): number
}

/** Runs after every microtask that is queued now or that those queue. */
async function settle(): Promise<void> {
  await setImmediate()
}

/** One for all: a scenario cuts thousands of waits short, and a stack for each takes long. */
const cutShort = new AbortedError('the wait was cut short')

export function createVirtualClock(): VirtualClock {
  let now: Millis = 0
  let slept = 0
  let woken = 0
  const sleepers = new Set<Sleeper>()

  const earliest = () => {
    let first: Sleeper | undefined
    for (const one of sleepers)
      if (first === undefined || one.due < first.due || (one.due === first.due && one.order < first.order))
        first = one
    return first
  }
  const wakeOne = async (sleeper: Sleeper) => {
    sleepers.delete(sleeper)
    now = sleeper.due
    woken += 1
    sleeper.wake()
    await settle()
  }
  return {
    settle,
    now: () => now,
    woken: () => woken,
    sleep: (duration, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(cutShort)
          return
        }
        const sleeper = { due: now + Math.max(0, duration), order: slept++, wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper)
          reject(cutShort)
        })
      }),
    async advance(duration) {
      const until = now + duration
      await settle()
      for (let next = earliest(); next !== undefined && next.due <= until; next = earliest())
        await wakeOne(next)
      now = until
    },
    async runUntil<T>(promise: Promise<T>) {
      const seen = { settled: false }
      const mark = () => {
        seen.settled = true
      }
      promise.then(mark, mark)
      await settle()
      while (!seen.settled) {
        const next = earliest()
        if (next === undefined) throw new InvariantError('everything stands still: nobody sleeps')
        await wakeOne(next)
      }
      return promise
    },
  }
}
