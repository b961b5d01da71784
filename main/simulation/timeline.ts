/** What every PC did when, as chrome://tracing and ui.perfetto.dev read it: a row for its engine and one for its upload. */
import type { PeerId } from '../../shared/ids.ts'
import type { Pool } from '../../shared/plan/pool.ts'
import type { Millis } from '../../shared/units.ts'
import type { EngineCall } from './engine.ts'
import type { Transfer } from './network.ts'
import type { Watcher } from './simulated-pool.ts'

/** Trace Event Format: `X` lasts, `i` is a moment, `M` names a row. Times in microseconds. */
export interface TraceEvent {
  readonly name: string
  readonly ph: 'X' | 'i' | 'M'
  readonly pid: number
  readonly tid: number
  readonly ts?: number
  readonly dur?: number
  readonly s?: 'g'
  readonly args?: Readonly<Record<string, unknown>>
}

export interface Timeline extends Watcher {
  /** @returns the events, and whether some were left out */
  events(): { readonly traceEvents: readonly TraceEvent[]; readonly complete: boolean }
}

/** Viewers get slow beyond; a large pool's timeline is its first minutes. */
const mostEvents = 200_000
const engineRow = 1
const uploadRow = 2
const microsecond = (ms: Millis) => Math.round(ms * 1000)

const messageNames: Readonly<Record<string, string>> = {
  activation: 'activation',
  gradient: 'gradient',
  chunk: 'average',
  parameters: 'weights',
}

export function createTimeline(pool: Pool): Timeline {
  const numbers = new Map(pool.peers.map(({ id }, index) => [id, index + 1]))
  const recorded: TraceEvent[] = []
  let leftOut = 0
  const add = (event: TraceEvent) => {
    if (recorded.length < mostEvents) recorded.push(event)
    else leftOut += 1
  }
  const row = (peer: PeerId, tid: number) => ({ pid: numbers.get(peer) ?? 0, tid })
  const span = (from: Millis, to: Millis) => ({ ts: microsecond(from), dur: microsecond(to - from) })
  return {
    call(peer: PeerId, { what, microBatch, beganMs, endedMs }: EngineCall) {
      add({ name: `${what} ${microBatch}`, ph: 'X', ...row(peer, engineRow), ...span(beganMs, endedMs) })
    },
    transfer({ from, to, message, bytes, sentMs, arrivedMs }: Transfer) {
      const { header } = message
      const name = messageNames[header.type] ?? header.type
      const number = 'microBatch' in header ? ` ${header.microBatch}` : ''
      add({
        ...{
          name: `${name}${number} to ${to}`,
          ph: 'X',
          ...row(from, uploadRow),
          ...span(sentMs, arrivedMs),
        },
        args: { bytes: Math.round(bytes) },
      })
    },
    event(text: string, atMs: Millis) {
      add({ name: text, ph: 'i', pid: 0, tid: 0, ts: microsecond(atMs), s: 'g' })
    },
    events() {
      const seen = new Set(recorded.map(({ pid }) => pid))
      const names = [...numbers]
        .filter(([, pid]) => seen.has(pid))
        .flatMap(([peer, pid]) => rowNames(peer, pid))
      return { traceEvents: [...names, ...recorded], complete: leftOut === 0 }
    },
  }
}

function rowNames(peer: PeerId, pid: number): TraceEvent[] {
  const name = (what: string, tid: number, text: string): TraceEvent => ({
    ...{ name: what, ph: 'M', pid, tid },
    args: { name: text },
  })
  return [
    name('process_name', 0, peer),
    name('thread_name', engineRow, 'engine'),
    name('thread_name', uploadRow, 'sent'),
  ]
}
