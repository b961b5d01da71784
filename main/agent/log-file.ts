/** The agent's log: JSON lines in the home folder, an old and a new file, so that it never grows without end. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mebibyte } from '../../shared/units.ts'
import type { Log } from '../core/ports.ts'

const maxFileBytes = 8 * mebibyte

/** Debug lines only with ROOKERY_DEBUG set. A disk that takes no more lines must not stop the agent. */
export function openLogFile(home: string): { readonly log: Log; readonly file: string } {
  const folder = join(home, 'logs')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'agent.log')
  const debug = process.env['ROOKERY_DEBUG'] !== undefined
  let bytes = sizeOf(file)

  const log: Log = (level, text, facts) => {
    if (level === 'debug' && !debug) return
    const line = `${JSON.stringify({ at: new Date().toISOString(), level, text, ...facts })}\n`
    try {
      if (bytes > maxFileBytes) {
        renameSync(file, join(folder, 'agent.1.log'))
        bytes = 0
      }
      // Synchronous on purpose: the last line before a crash is the one that is needed. Lines are rare.
      appendFileSync(file, line, { mode: 0o600 })
      bytes += line.length
    } catch {
      // Nowhere to write it.
    }
  }
  return { log, file }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
