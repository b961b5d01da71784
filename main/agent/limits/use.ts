/** What Rookery uses now: sampled at most once a second, and only while someone looks. */
import type { Snapshot } from '../../../shared/messages/control.ts'
import { second, type Millis } from '../../../shared/units.ts'

export interface UsePorts {
  readonly nowMs: () => Millis
  readonly usage: () => { readonly cpuShare: number; readonly memoryBytes: number }
  readonly traffic: () => { readonly sentBytes: number; readonly receivedBytes: number }
  /** Call back once, later; must not keep the process alive. */
  readonly later: (deed: () => void, afterMs: Millis) => void
  /** Ask for a new snapshot; nothing happens where nobody looks. */
  readonly ring: () => void
}

/**
 * The figures for a snapshot. Whoever asks is shown new ones a second later; nobody asks for a snapshot that nobody
 * sees, so the sampling ends by itself.
 */
export function createUse(ports: UsePorts): () => Snapshot['use'] {
  let before = { atMs: ports.nowMs(), ...ports.traffic() }
  let figures: Snapshot['use'] = { ...ports.usage(), uploadBytesPerSecond: 0, downloadBytesPerSecond: 0 }
  let waits = false

  function sample(): void {
    const now = { atMs: ports.nowMs(), ...ports.traffic() }
    const seconds = (now.atMs - before.atMs) / second
    const { cpuShare, memoryBytes } = ports.usage()
    figures = {
      cpuShare: Math.round(cpuShare * 1000) / 1000,
      memoryBytes,
      uploadBytesPerSecond: Math.round((now.sentBytes - before.sentBytes) / seconds),
      downloadBytesPerSecond: Math.round((now.receivedBytes - before.receivedBytes) / seconds),
    }
    before = now
  }
  return () => {
    if (ports.nowMs() - before.atMs >= second) sample()
    if (!waits) {
      waits = true
      ports.later(() => {
        waits = false
        ports.ring()
      }, second)
    }
    return figures
  }
}
