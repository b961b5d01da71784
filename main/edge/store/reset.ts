/** Forgets what can be had again: at the next start, since an agent that runs holds some of it open. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from './files.ts'

const markName = 'reset-at-start'
/**
 * Benchmarks and what jobs taught of them, data and known peers; and the job it was in, which could not go on without its data.
 * Identity, settings, models, saves and the count of contributions stay.
 */
const forgotten = [
  'benchmark.json',
  'learned.json',
  'shards',
  'peers',
  'hosted',
  'joined.json',
  'port.json',
] as const

export async function askReset(home: string): Promise<void> {
  await writeFile(join(home, markName), '', { mode: 0o600 })
}

/** Call before anything of the home is opened. @returns whether something was forgotten */
export async function resetIfAsked(home: string): Promise<boolean> {
  const mark = join(home, markName)
  if (!(await exists(mark))) return false
  for (const name of forgotten) await rm(join(home, name), { recursive: true, force: true })
  // Last: a reset that a crash cut short is done again.
  await rm(mark, { force: true })
  return true
}
