/**
 * How long the agent's event loop is blocked at most while it trains; heartbeats and micro-batches wait as long. A timer
 * that is late says so. Where more programs want a processor than there are, it is late as well, though we did nothing:
 * what our own thread worked meanwhile is therefore measured beside it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Log } from '../core/ports.ts'
import { second, type Millis } from '../../shared/units.ts'

/** Of the timers that measure: what they are late by is the delay. */
const resolutionMs: Millis = 10

/** Two clocks that never go back: the wall's, and the time that this thread was on a processor. */
export interface LoopClocks {
  readonly now: () => Millis
  readonly worked: () => Millis
}

/** Called every `resolutionMs`, or later where something blocks: the longest that the thread itself worked at a stretch. */
export function createWorkMeter({ now, worked }: LoopClocks) {
  let at = now()
  let workedBefore = worked()
  let longestMs = 0
  return {
    tick(): void {
      const lateMs = now() - at - resolutionMs
      const ownMs = worked() - workedBefore
      at += lateMs + resolutionMs
      workedBefore += ownMs
      longestMs = Math.max(longestMs, Math.min(lateMs, ownMs))
    },
    longestMs: (): Millis => longestMs,
  }
}

const clocks: LoopClocks = {
  now: () => performance.now(),
  worked: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
}

/** @returns its end. What was seen is in the log after each training. */
export function watchLoop(isTraining: () => boolean, log: Log): () => void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let work: ReturnType<typeof createWorkMeter> | undefined
  let ticking: NodeJS.Timeout | undefined
  const begin = () => {
    delays.reset()
    delays.enable()
    const meter = createWorkMeter(clocks)
    work = meter
    ticking = setInterval(() => { meter.tick() }, resolutionMs).unref() // prettier-ignore
  }
  const finish = (meter: ReturnType<typeof createWorkMeter>) => {
    clearInterval(ticking)
    work = undefined
    delays.disable()
    const ms = (nanoseconds: number) => Math.max(0, Math.round(nanoseconds / 1e6 - resolutionMs))
    const longestMs = ms(delays.max)
    const ownMs = Math.round(meter.longestMs())
    log('info', 'the event loop while training', {
      longestMs,
      ownMs,
      mostlyMs: ms(delays.percentile(99)),
    })
  }
  const look = (trains: boolean) => {
    if (trains && work === undefined) begin()
    if (!trains && work !== undefined) finish(work)
  }
  const timer = setInterval(() => { look(isTraining()) }, second).unref() // prettier-ignore
  return () => {
    clearInterval(timer)
    look(false)
  }
}
