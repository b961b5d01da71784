/** What every command is given: where the agent's program lies, the one-shot tasks, and where to write. */
import type { Command } from 'commander'
import { resolve } from 'node:path'
import { InvalidInputError } from '../../shared/errors.ts'
import type { Tasks } from './tasks.ts'
import type { Terminal } from './terminal.ts'

export interface Context {
  /** Path of the agent's entry file. */
  readonly agentEntry: string
  /** Loaded when first asked for: the engine behind them is slow to start. */
  loadTasks(): Promise<Tasks>
  terminal(options: CommonOptions): Terminal
}

/** A command adds itself to the program. */
export type AddCommand = (program: Command, context: Context) => void

export interface CommonOptions {
  readonly json?: boolean
}

export interface HomeOptions extends CommonOptions {
  readonly home?: string
}

export const jsonOption = ['--json', 'one JSON object per line on stdout; people’s text on stderr'] as const
export const homeOption = [
  '--home <dir>',
  'the agent’s folder (default: $ROOKERY_HOME, else the platform’s data folder)',
] as const

const byteUnits: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

/** `1073741824`, `1GiB`, `1.5 GB`. @throws InvalidInputError */
export function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim())
  const unit = byteUnits[match?.[2]?.toLowerCase() ?? 'none']
  if (match?.[1] === undefined || unit === undefined) {
    throw new InvalidInputError(
      `"${text}" is not a size; write for example 512MiB, 4GiB or a number of bytes`,
    )
  }
  return Math.floor(Number(match[1]) * unit)
}

/** A whole number in a range, for an option. @throws InvalidInputError */
export function parseWhole(option: string, range: { readonly from: number; readonly to: number }) {
  return (text: string): number => {
    const value = Number(text)
    if (text.trim() !== '' && Number.isInteger(value) && value >= range.from && value <= range.to)
      return value
    throw new InvalidInputError(
      `${option} takes a whole number from ${range.from} to ${range.to}, not "${text}"`,
    )
  }
}

/** A preset's name as it is; anything that looks like a file is resolved against the folder. */
export function modelReference(model: string, folder: string): string {
  return /[/\\]|\.json$/i.test(model) ? resolve(folder, model) : model
}
