/** `rookery host JOB.json`: launch a job and stay with it. */
import type { AddCommand } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { readJobFile } from '../job-file.ts'
import { addAgentFlags, agentOptionsOf, withAgent } from '../session.ts'
import type { AgentFlags } from '../session.ts'
import { takePart } from '../take-part.ts'
import { hostText } from '../view/forecast-text.ts'

/** As the wizard of the window has it. */
const mostForeseen = 8

const help = `
The smallest JOB.json (paths are relative to it):
  { "name": "digits", "model": "digits-cnn", "target": { "updates": 500 },
    "data": { "type": "csv", "path": "digits.csv.gz" }, "gathering": { "peers": 3 } }

It starts when gathering.peers are there, at gathering.deadlineSeconds, on Enter, or by \`rookery start\`.

Examples:
  rookery host digits.json                   run an agent here until the job ends
  rookery host digits.json --forecast        how long with 1 to 8 PCs like this one; nothing is hosted
  rookery host digits.json --memory 2GiB     lend at most so much memory
  rookery host digits.json --json > run.log  one event a line for scripts`

export const addHost: AddCommand = (program, context) => {
  const command = program
    .command('host')
    .description('launch a job, print its invite, train, and keep the finished model')
    .argument('<job.json>', 'what to train, on what, until when')
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
  command.option('--forecast', 'say how long it would take with 1 to 8 PCs, and host nothing')
  addAgentFlags(command).action(async (file: string, options: AgentFlags & { readonly forecast?: true }) => {
    const terminal = context.terminal(options)
    const job = await readJobFile(file)
    if (options.forecast === true) {
      const forecast = await withAgent(context.agentEntry, agentOptionsOf(options), (client) =>
        client.command('forecastHost', { job, peers: mostForeseen }),
      )
      terminal.event({ event: 'forecast', ...forecast })
      terminal.answer(hostText(forecast))
      return
    }
    process.exitCode = await takePart(context, {
      role: 'host',
      terminal,
      agent: agentOptionsOf(options),
      async begin(client) {
        const launched = await client.command('host', { job })
        terminal.event({ event: 'invite', ...launched })
        terminal.say(
          `invite for “${job.name}”, for whoever should join with \`rookery join\`:\n\n${launched.invite}\n`,
        )
        return launched.job
      },
    })
  })
}
