/** `rookery status`: what the agent of this home does. */
import { connectAgent } from '../../edge/control/client.ts'
import type { Snapshot } from '../../../shared/messages/control.ts'
import type { AddCommand, HomeOptions } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { exitCodes } from '../errors.ts'
import { followJob } from '../follow.ts'
import { homeFolder } from '../home.ts'
import { createInterrupts } from '../interrupts.ts'
import { report } from '../take-part.ts'
import type { Terminal } from '../terminal.ts'
import { jobScreen } from '../view/job-screen.ts'

const help = `
Examples:
  rookery status           one picture of the agent and its job
  rookery status --watch   the same, live, until the job ends
  rookery status --json    everything the agent shows, as one JSON object`

export const addStatus: AddCommand = (program, context) => {
  program
    .command('status')
    .description('show the agent of this home folder and its job')
    .option('--watch', 'stay and show every change')
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (options: HomeOptions & { readonly watch?: boolean }) => {
      const terminal = context.terminal(options)
      const client = await connectAgent(homeFolder(options.home))
      using _interrupts = createInterrupts({
        orderly: () => {
          client.close()
        },
        atOnce: () => process.exit(exitCodes.failure),
      })
      try {
        const snapshot = await client.command('status', {})
        const { job } = snapshot
        if (options.watch === true && job !== null && job.result === null) {
          const hint = (): string => 'Ctrl-C closes this view; the job goes on'
          const ended = await followJob(client, { job: job.job, terminal, hint })
          if (ended !== undefined) process.exitCode = report(terminal, ended)
          else terminal.event({ event: 'result', job: job.job, outcome: 'detached' })
          return
        }
        terminal.event({ event: 'result', ...snapshot })
        terminal.answer(statusText(snapshot, terminal))
      } finally {
        client.close()
      }
    })
}

function statusText(snapshot: Snapshot, terminal: Pick<Terminal, 'size' | 'paint'>): string {
  const { displayName, self, backend, home, addresses, job } = snapshot
  const { paint } = terminal
  const agent = [
    `${paint('title', displayName)}  ${paint('faint', self)}`,
    paint('faint', `engine ${backend} · home ${home}`),
    ...addresses.slice(0, 4).map((address) => paint('faint', `listens on ${address}`)),
    '',
  ]
  const invite = job?.invite ?? null
  return [
    ...agent,
    job === null
      ? 'no job; `rookery host JOB.json` launches one, `rookery join INVITE` helps in one'
      : jobScreen(job, { ...terminal.size(), rows: 1000, paint, hint: '' }),
    ...(invite === null ? [] : ['', `invite: ${invite}`]),
  ].join('\n')
}
