/** `rookery join INVITE`: help in another PC's job. */
import type { AddCommand } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { addAgentFlags, agentOptionsOf, withAgent } from '../session.ts'
import type { AgentFlags } from '../session.ts'
import type { AgentClient } from '../../edge/control/client.ts'
import { takePart } from '../take-part.ts'
import { harmless } from '../view/columns.ts'
import { joinText } from '../view/forecast-text.ts'

const help = `
Examples:
  rookery join INVITE                 help until the job ends; Ctrl-C leaves in order
  rookery join INVITE --forecast      what it would bring and cost; nothing is joined
  rookery join INVITE --memory 1GiB   lend at most so much memory`

export const addJoin: AddCommand = (program, context) => {
  const command = program
    .command('join')
    .description('join a job by its invite and train until it ends')
    .argument('<invite>', 'the line that the host was given')
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
  command.option('--forecast', 'say what joining would bring and cost, and join nothing')
  addAgentFlags(command).action(async (typed: string, options: AgentFlags & { readonly forecast?: true }) => {
    const terminal = context.terminal(options)
    const invite = typed.trim()
    const foresee = async (client: AgentClient) => {
      terminal.say('asking the host what joining would bring')
      const [card, limits] = [await client.command('preview', { invite }), await client.command('limits', {})]
      terminal.event({ event: 'forecast', ...card })
      return joinText(card, limits)
    }
    if (options.forecast === true) {
      terminal.answer(await withAgent(context.agentEntry, agentOptionsOf(options), foresee))
      return
    }
    process.exitCode = await takePart(context, {
      role: 'member',
      terminal,
      agent: agentOptionsOf(options),
      async begin(client) {
        terminal.say(await foresee(client))
        const joined = await client.command('join', { invite })
        terminal.event({ event: 'joined', ...joined })
        terminal.say(`joined “${harmless(joined.name)}”`)
        return joined.job
      },
    })
  })
}
