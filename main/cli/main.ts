/** The command line in this process: real streams, the real agent, and an exit once all was written. */
import { fileURLToPath } from 'node:url'
import type { Context } from './context.ts'
import { runCommandLine } from './program.ts'
import type { Tasks } from './tasks.ts'
import { createTerminal } from './terminal.ts'

const agentEntry = fileURLToPath(new URL('../agent/index.ts', import.meta.url))

/** The engine behind the tasks is large: a command that needs none starts without it. */
const loadTasks = (): Promise<Tasks> => import('../agent/tasks.ts')

const realContext: Context = {
  agentEntry,
  loadTasks,
  terminal: (options) => createTerminal(process, options),
}

/** Run the command line of this process and exit with its code. A test brings its own agent and tasks. */
export async function main(replaced: Partial<Context> = {}): Promise<never> {
  // A reader that went away, like `head`, is no reason for a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const code = await runCommandLine(process.argv.slice(2), { ...realContext, ...replaced })
  await Promise.all([written(process.stdout), written(process.stderr)])
  process.exit(code)
}

/** Resolves when all that was written before has left this process, or its reader has gone. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => {
      resolve()
    })
  })
}
