/** A small value that outlives the process: one JSON file of the home folder, written whole or not at all. */
import { readFile, stat } from 'node:fs/promises'
import writeFileAtomic from 'write-file-atomic'
import type { z } from 'zod'
import { kibibyte } from '../../shared/units.ts'

const maxFileBytes = 64 * kibibyte

export interface KeptFile<T> {
  /** Undefined where there is no file, or none that can be used: what it held is lost, the agent is not. */
  read(): Promise<T | undefined>
  /** Put it in place of the old one, after every write before. Rejects when the disk takes no more. */
  write(value: T): Promise<void>
}

export function createKeptFile<T>(path: string, schema: z.ZodType<T>): KeptFile<T> {
  let last: Promise<unknown> = Promise.resolve()
  return {
    async read() {
      try {
        if ((await stat(path)).size > maxFileBytes) return undefined
        return schema.parse(JSON.parse(await readFile(path, 'utf8')))
      } catch {
        return undefined
      }
    },
    write(value) {
      const text = `${JSON.stringify(value)}\n`
      const written = last.then(() => writeFileAtomic(path, text, { mode: 0o600 }))
      last = written.catch(() => undefined)
      return written
    },
  }
}
