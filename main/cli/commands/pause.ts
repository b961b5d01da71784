/** `rookery pause`: rest now or after the round, until told or for a while. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { hour, type Millis, minute } from '../../../shared/units.ts'
import { connectAgent } from '../../edge/control/client.ts'
import type { AddCommand, HomeOptions } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { homeFolder } from '../home.ts'

interface PauseOptions extends HomeOptions {
  readonly afterRound?: true
  readonly for?: Millis
}

/** Longer is no pause: leave the job. */
const longestPauseMs = 365 * 24 * hour

/** `90m` or `4h`. @throws InvalidInputError */
export function parseDuration(text: string): Millis {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*(m|min|h)$/.exec(text.trim()) ?? []
  const ms = Number(amount) * (unit === 'h' ? hour : minute)
  if (!(ms > 0 && ms <= longestPauseMs))
    throw new InvalidInputError(`"${text}" is no time to pause for; write for example 90m or 4h`)
  return ms
}

const help = `
A pause holds for the job under way and for those to come, over a restart too, until \`rookery resume\`.
With --after-round this peer trains on until the next average with the other clusters is made (or given up); a pool of one
cluster has no averages, it pauses after the update at which one would be due. The time of --for counts from when the
pause begins. \`rookery resume\` takes it back; \`rookery pause\` meanwhile pauses at once.
An agent must run on the home folder.

Examples:
  rookery pause
  rookery pause --for 4h
  rookery pause --after-round --for 90m`

export const addPause: AddCommand = (program, context) => {
  program
    .command('pause')
    .description('finish the micro-batches in flight and pause this peer')
    .option('--after-round', 'finish the averaging round first')
    .option('--for <time>', 'for so long, for example 90m or 4h; default: until resume', parseDuration)
    .option(...homeOption)
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (options: PauseOptions) => {
      const terminal = context.terminal(options)
      const client = await connectAgent(homeFolder(options.home))
      try {
        const output = await client.command('pause', {
          ...(options.for === undefined ? {} : { forMs: options.for }),
          ...(options.afterRound === undefined ? {} : { after: 'round' }),
        })
        terminal.event({ event: 'result', command: 'pause', ...output })
        terminal.answer(output.waits ? 'finishing this round, then pausing' : 'pausing')
      } finally {
        client.close()
      }
    })
}
