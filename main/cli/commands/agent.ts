/** `rookery agent`: the agent in the foreground, for servers and for other faces of this user. */
import type { AddCommand } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { exitCodes } from '../errors.ts'
import { createInterrupts } from '../interrupts.ts'
import { addAgentFlags, agentOptionsOf, startSession } from '../session.ts'
import type { AgentFlags } from '../session.ts'

const help = `
It comes back to the job it was in when it last ended, if it had joined one and not left it.
While it runs, host, join, status, pause, resume and leave on the same --home talk to it.

Examples:
  rookery agent                                run until Ctrl-C
  rookery agent --home ~/second --port 4100    a second agent on this machine`

export const addAgent: AddCommand = (program, context) => {
  const command = program
    .command('agent')
    .description('run the agent in the foreground')
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
  addAgentFlags(command).action(async (flags: AgentFlags) => {
    const terminal = context.terminal(flags)
    const options = { ...agentOptionsOf(flags), rejoin: true }
    const atOnce = (): void => process.exit(exitCodes.failure)
    using interrupts = createInterrupts({ orderly: atOnce, atOnce })
    const session = await startSession(context.agentEntry, options, (line) => {
      terminal.say(line)
    })
    interrupts.orderly(() => void session.close())
    terminal.event({ event: 'ready', home: options.home, socket: session.own?.socket, pid: session.own?.pid })
    terminal.say(`the agent runs on ${options.home}; Ctrl-C ends it`)
    const code = await session.own?.ended
    terminal.event({ event: 'result', exitCode: code })
    process.exitCode = code === 0 ? exitCodes.done : exitCodes.failure
  })
}
