/** `rookery join INVITE`: help in another PC's job. */
import type { AddCommand } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { addAgentFlags, agentOptionsOf } from '../session.ts'
import type { AgentFlags } from '../session.ts'
import { takePart } from '../take-part.ts'
import { harmless } from '../view/columns.ts'

const help = `
Examples:
  rookery join INVITE                 help until the job ends; Ctrl-C leaves in order
  rookery join INVITE --memory 1GiB   lend at most so much memory`

export const addJoin: AddCommand = (program, context) => {
  const command = program
    .command('join')
    .description('join a job by its invite and train until it ends')
    .argument('<invite>', 'the line that the host was given')
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
  addAgentFlags(command).action(async (invite: string, options: AgentFlags) => {
    const terminal = context.terminal(options)
    process.exitCode = await takePart(context, {
      role: 'member',
      terminal,
      agent: agentOptionsOf(options),
      async begin(client) {
        const joined = await client.command('join', { invite: invite.trim() })
        terminal.event({ event: 'joined', ...joined })
        terminal.say(`joined “${harmless(joined.name)}”`)
        return joined.job
      },
    })
  })
}
