/** The agent's program as a child that ends when we end, and its end as one sentence. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { AgentStartError } from '../errors.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import { minute, second } from '../../../shared/units.ts'

export interface AgentProgram {
  readonly runtime: string
  readonly entry: string
  readonly home: string
}

export interface AgentProcess {
  /** Resolves when it is gone, with the reason in one sentence. */
  readonly gone: Promise<string>
  /** Close its stdin, which ends it in order; killed when that takes too long. */
  end(): Promise<void>
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const readyDeadlineMs = 2 * minute
/** Longer than the agent gives itself for an orderly end. */
const endDeadlineMs = 25 * second
/** What the agent exits with when a setting, file or argument is at fault: starting again would not help. */
const badInputCode = 2
const keptLines = 20

/** @throws InvalidInputError in the agent's own words when it cannot run here; AgentStartError otherwise */
export async function startAgentProcess({ runtime, entry, home }: AgentProgram): Promise<AgentProcess> {
  const child = spawn(runtime, [entry, '--home', home, '--attached', '--rejoin'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environmentOfAgent(),
    windowsHide: true,
  })
  // Its end may race with our writing.
  child.stdin.on('error', () => undefined)
  const words: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    words.push(line)
    if (words.length > keptLines) words.shift()
  })
  const gone = endOf(child, words)
  await ready(child, gone, words)
  return {
    gone,
    async end() {
      child.stdin.end()
      const late = setTimeout(() => child.kill('SIGKILL'), endDeadlineMs)
      await gone
      clearTimeout(late)
    },
  }
}

/** Electron's and a debugger's own variables are not for the agent. */
function environmentOfAgent(): NodeJS.ProcessEnv {
  const mine = Object.entries(process.env).filter(([name]) => !/^(ELECTRON_|NODE_OPTIONS$)/.test(name))
  return Object.fromEntries(mine)
}

async function endOf(child: Child, words: readonly string[]): Promise<string> {
  try {
    await once(child, 'close')
  } catch (thrown) {
    return `its program could not be started: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  }
  const last = words.findLast((line) => line.trim() !== '')
  if (child.signalCode !== null) return `it was ended from outside (${child.signalCode})`
  return last ?? `it ended with code ${child.exitCode ?? 0}`
}

async function ready(child: Child, gone: Promise<string>, words: readonly string[]): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), readyDeadlineMs)
  const said = new Promise<undefined>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"event":"ready"')) resolve(undefined)
    })
  })
  try {
    const cause = await Promise.race([said, gone])
    if (cause === undefined) return
    if (child.exitCode === badInputCode) throw new InvalidInputError(words.at(-1) ?? cause)
    throw new AgentStartError(cause)
  } finally {
    clearTimeout(late)
  }
}
