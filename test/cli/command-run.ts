/** Run `rookery` as a real process, with the fake agent unless told otherwise, and look at what it says and leaves. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const withFakeAgent = fileURLToPath(new URL('fake-rookery.ts', import.meta.url))

export interface CommandRun {
  /** Resolves when the text has appeared on stdout or stderr; rejects when the command ends without it. */
  saw(text: string): Promise<void>
  /** Whole lines of stdout so far as JSON. */
  events(): Record<string, unknown>[]
  signal(signal: NodeJS.Signals): void
  /** What it ended with. */
  readonly ended: Promise<CommandEnd>
}

export interface CommandEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Lines of stdout as JSON. */
  readonly events: () => Record<string, unknown>[]
}

/** Lines of JSON; what comes after the last line end is not yet one. */
const eventsIn = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/**
 * @param folder - to run in, with its temporary files inside
 * @param entry - the program
 */
export function startCommand(args: readonly string[], folder?: string, entry = withFakeAgent): CommandRun {
  const child = spawn(process.execPath, [entry, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(folder === undefined ? {} : { cwd: folder, env: { ...process.env, TMPDIR: folder, TEMP: folder } }),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = (async (): Promise<CommandEnd> => {
    await once(child, 'close')
    return { code: child.exitCode, stdout, stderr, events: () => eventsIn(stdout) }
  })()
  return {
    ended,
    events: () => eventsIn(stdout),
    signal(signal) {
      child.kill(signal)
    },
    async saw(text) {
      await until(() => {
        if (child.exitCode !== null && !(stdout + stderr).includes(text)) {
          expectSaid(text, stdout + stderr)
        }
        return (stdout + stderr).includes(text)
      })
    },
  }
}

function expectSaid(text: string, said: string): never {
  throw new RangeError(`the command ended without saying "${text}"; it said:\n${said}`)
}

export const runCommand = (args: readonly string[], folder?: string): Promise<CommandEnd> =>
  startCommand(args, folder).ended

/** Look again until it holds; the test's own limit is the deadline. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10)
}

export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

export const agentPid = (home: string): number => Number(textOf(`${home}/pid`))
/** What the fake agent of this home noted, line by line. */
export const notesOf = (home: string): string[] => textOf(`${home}/notes`).trim().split('\n')
