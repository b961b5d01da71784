/** Commands that are one word to the agent that runs: start, resume, finish, leave. */
import { connectAgent } from '../../edge/control/client.ts'
import type { AddCommand, HomeOptions } from '../context.ts'
import { homeOption, jsonOption } from '../context.ts'
import { homeFolder } from '../home.ts'

const words = {
  start: ['host: plan now, with the peers that have joined', 'the job starts with the peers that are here'],
  resume: ['go on after a pause', 'going on'],
  finish: ['host: end the training early and keep the model', 'finishing; the model will be kept'],
  leave: ['member: leave in order; host: stop the job without a model', 'leaving the job'],
} as const
type Word = keyof typeof words

/** Some of them, in the order of the help. */
export const steering =
  (...chosen: readonly Word[]): AddCommand =>
  (program, context) => {
    for (const word of chosen) {
      const [description, done] = words[word]
      program
        .command(word)
        .description(description)
        .option(...homeOption)
        .option(...jsonOption)
        .addHelpText('after', `\nAn agent must run on the home folder.\n\nExample:\n  rookery ${word}`)
        .action(async (options: HomeOptions) => {
          const terminal = context.terminal(options)
          const client = await connectAgent(homeFolder(options.home))
          try {
            await client.command(word, {})
            terminal.event({ event: 'result', command: word })
            terminal.answer(done)
          } finally {
            client.close()
          }
        })
    }
  }
