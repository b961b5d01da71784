/** What happened in a job, in plain words: the newest lines for the window, all of them for the log file. */
import type { Clock, Log } from '../ports.ts'

const keptLines = 200

export interface JobLog {
  say(text: string): void
  readonly lines: readonly { readonly atMs: number; readonly text: string }[]
}

export function createJobLog(ports: { clock: Clock; log: Log }): JobLog {
  const lines: { atMs: number; text: string }[] = []
  return {
    say(text) {
      ports.log('info', text)
      lines.push({ atMs: ports.clock.now(), text })
      if (lines.length > keptLines) lines.shift()
    },
    get lines() {
      return lines
    },
  }
}
