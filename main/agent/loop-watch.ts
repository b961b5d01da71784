/** How long the agent's event loop is blocked at most while it trains; heartbeats and micro-batches wait as long. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Log } from '../core/ports.ts'
import { second, type Millis } from '../../shared/units.ts'

/** Of the timer that measures: what it is late by is the delay. */
const resolutionMs: Millis = 10

/** @returns its end. What was seen is in the log after each training. */
export function watchLoop(isTraining: () => boolean, log: Log): () => void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let watching = false
  const look = () => {
    const trains = isTraining()
    if (trains === watching) return
    watching = trains
    if (trains) {
      delays.reset()
      delays.enable()
      return
    }
    delays.disable()
    const ms = (nanoseconds: number) => Math.max(0, Math.round(nanoseconds / 1e6 - resolutionMs))
    const longestMs = ms(delays.max)
    log('info', 'the event loop while training', { longestMs, mostlyMs: ms(delays.percentile(99)) })
  }
  const timer = setInterval(look, second)
  timer.unref()
  return () => {
    clearInterval(timer)
    look()
    delays.disable()
  }
}
