/** The `rookery` command: its parts, and what becomes of every error. */
import { Command, CommanderError } from 'commander'
import { readFileSync } from 'node:fs'
import { PoolError, reportOf } from '../../shared/errors.ts'
import { addAgent } from './commands/agent.ts'
import { addBench } from './commands/bench.ts'
import { addChaos } from './commands/chaos.ts'
import { addDemo } from './commands/demo.ts'
import { addEvaluate } from './commands/evaluate.ts'
import { addHost } from './commands/host.ts'
import { addJoin } from './commands/join.ts'
import { addLimits } from './commands/limits.ts'
import { addPause } from './commands/pause.ts'
import { addPlan } from './commands/plan.ts'
import { addPredict } from './commands/predict.ts'
import { addSimulate } from './commands/simulate.ts'
import { addStatus } from './commands/status.ts'
import { steering } from './commands/steer.ts'
import type { Context } from './context.ts'
import { exitCodeOf, exitCodes } from './errors.ts'

const parts = [
  addDemo,
  addHost,
  addJoin,
  addStatus,
  steering('start'),
  addPause,
  steering('resume', 'finish', 'leave'),
  addLimits,
  addAgent,
  addPlan,
  addSimulate,
  addBench,
  addEvaluate,
  addPredict,
  addChaos,
] as const

const help = `
Exit codes: 0 done, 2 bad input or does not fit (one sentence on stderr), 1 failure.

Examples:
  rookery demo                       see a pool train on this machine
  rookery host JOB.json              launch a job; others join with the invite it prints
  rookery join INVITE                help in a job
  rookery COMMAND --help             what a command takes, with examples`

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

export function createProgram(context: Context): Command {
  const program = new Command('rookery')
    .description('Pool personal PCs to train one neural network together.')
    .version(version)
    .exitOverride()
    .configureHelp({ helpWidth: 100 })
    .addHelpText('after', help)
  for (const add of parts) add(program, context)
  return program
}

/** Run one command line. @returns the exit code; never throws */
export async function runCommandLine(args: readonly string[], context: Context): Promise<number> {
  try {
    await createProgram(context).parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? exitCodes.done)
  } catch (thrown) {
    const terminal = context.terminal({ json: args.includes('--json') })
    if (thrown instanceof CommanderError) {
      // Help that was asked for is no fault; commander has written the text of either.
      if (thrown.exitCode === 0) return exitCodes.done
      terminal.event({
        event: 'result',
        error: { kind: 'bad-input', code: thrown.code, message: thrown.message },
      })
      return exitCodes.badInput
    }
    const report = reportOf(thrown)
    terminal.event({ event: 'result', error: report })
    terminal.say(`rookery: ${report.message}`)
    if (!(thrown instanceof PoolError) && thrown instanceof Error) terminal.say(thrown.stack ?? '')
    return exitCodeOf(thrown)
  }
}
