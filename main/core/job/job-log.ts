/** What happened in a job, in plain words: the newest lines for the window, all of them for the log file. */
import type { LogKind } from '../../../shared/messages/control.ts'
import type { Millis } from '../../../shared/units.ts'
import type { Clock, Log } from '../ports.ts'

const keptLines = 200

export interface JobLogLine {
  readonly atMs: Millis
  readonly kind: LogKind
  readonly text: string
}

export interface JobLog {
  say(text: string, kind?: LogKind): void
  /** A line of another PC's log. */
  hear(line: JobLogLine): void
  readonly lines: readonly JobLogLine[]
  /** Lines ever, those that fell out too. */
  readonly said: number
}

export function createJobLog(ports: { clock: Clock; log: Log }): JobLog {
  const lines: JobLogLine[] = []
  let said = 0
  function hear(line: JobLogLine): void {
    said++
    lines.push(line)
    if (lines.length > keptLines) lines.shift()
  }
  return {
    say(text, kind = 'info') {
      ports.log('info', text)
      hear({ atMs: ports.clock.now(), kind, text })
    },
    hear,
    get lines() {
      return lines
    },
    get said() {
      return said
    },
  }
}
