/** `rookery simulate`: how fast a pool would train, why not faster, and what would help, without starting anything. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { AddCommand, Context } from '../context.ts'
import { jsonOption, parseWhole } from '../context.ts'
import { exitCodes } from '../errors.ts'
import type { Simulated, SimulateTask } from '../tasks.ts'
import type { Terminal } from '../terminal.ts'
import { formatBytes } from '../view/numbers.ts'
import { simulationText } from '../view/simulation-text.ts'
import { type PlanOptions, readPlanTask } from './plan.ts'

interface SimulateOptions extends PlanOptions {
  readonly minutes: number
  readonly stragglers: string
  readonly loss: number
  readonly mtbf?: number
  readonly back: number
  readonly trace?: string
}

const help = `
The PCs train with the real pipeline and averaging on a virtual clock; only their engines and lines are
imitated, as POOL.json and the model say (rookery plan --help shows the files).

--stragglers lognormal:0.1   every piece of work takes exp(0.1 z) as long, z normal
--stragglers normal:0.08     a factor around 1, drawn again outside 0.5 to 1.5
--mtbf 60 --back 5           each PC but the host’s (the first) is gone about once an hour, for 5 minutes
--trace FILE                 a timeline for chrome://tracing or ui.perfetto.dev

Examples:
  rookery simulate --pool POOL.json --model gpt-mini
  rookery simulate --pool POOL.json --profile PROFILE.json --minutes 60 --mtbf 240 --json`

export const addSimulate: AddCommand = (program, context) => {
  program
    .command('simulate')
    .description('simulate a pool: how fast, why not faster, and what would help')
    .requiredOption('--pool <file>', 'the PCs and the links between them')
    .option('--model <name>', 'a preset, or the path of a graph file')
    .option('--profile <file>', 'a model by its layers’ bytes and operations')
    .option('--seed <number>', 'of plan and chance', parseWhole('--seed', { from: 0, to: 2 ** 32 - 1 }), 0)
    .option('--minutes <number>', 'to simulate', parseAmount('--minutes', { above: 0, most: 10_080 }), 10)
    .option('--stragglers <how>', 'none, lognormal:S or normal:S', 'none')
    .option('--loss <share>', 'of the messages’ pieces', parseAmount('--loss', { above: -1, most: 0.5 }), 0)
    .option(
      '--mtbf <minutes>',
      'until a PC is lost, in the mean',
      parseAmount('--mtbf', { above: 0, most: 1e9 }),
    )
    .option('--back <minutes>', 'until it is back', parseAmount('--back', { above: 0, most: 1e9 }), 5)
    .option('--trace <file>', 'write a timeline')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (options: SimulateOptions) => {
      process.exitCode = await runSimulate(options, context)
    })
}

/** A number in a range, for an option. @throws InvalidInputError */
function parseAmount(option: string, { above, most }: { readonly above: number; readonly most: number }) {
  return (text: string): number => {
    const value = Number(text)
    if (text.trim() !== '' && value >= 0 && value > above && value <= most) return value
    throw new InvalidInputError(
      `${option} takes a number ${above < 0 ? 'from' : 'above'} 0 up to ${most}, not "${text}"`,
    )
  }
}

async function runSimulate(options: SimulateOptions, context: Context): Promise<number> {
  const terminal = context.terminal(options)
  const { minutes, stragglers, loss, mtbf, back } = options
  const task: SimulateTask = {
    ...(await readPlanTask(options)),
    ...{ minutes, stragglers, loss, trace: options.trace !== undefined },
    ...(mtbf === undefined ? {} : { churn: { meanMinutes: mtbf, backMinutes: back } }),
  }
  const { report, trace } = await (await context.loadTasks()).simulateTask(task)
  if (options.trace !== undefined && trace !== undefined)
    await writeTrace(resolve(options.trace), trace, terminal)
  terminal.event({ event: 'result', ...report })
  if (!report.feasible) {
    terminal.say(`the model does not fit: ${report.reason} (${formatBytes(report.shortfallBytes)} missing)`)
    return exitCodes.badInput
  }
  terminal.answer(simulationText(report))
  return exitCodes.done
}

/** @throws InvalidInputError when the file cannot be written */
async function writeTrace(
  path: string,
  { traceEvents, complete }: NonNullable<Simulated['trace']>,
  terminal: Terminal,
): Promise<void> {
  try {
    await writeFile(path, JSON.stringify({ traceEvents, displayTimeUnit: 'ms' }))
  } catch (thrown) {
    throw new InvalidInputError(`cannot write ${path}: ${thrown instanceof Error ? thrown.message : ''}`)
  }
  if (!complete)
    terminal.say(`${path} holds only the first ${traceEvents.length} events; simulate fewer minutes for all`)
}
