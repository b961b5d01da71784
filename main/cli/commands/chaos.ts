/** `rookery chaos`: a pool on this machine to which bad things happen, and what becomes of its training. */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { AbortedError, InvalidInputError } from '../../../shared/errors.ts'
import { minute } from '../../../shared/units.ts'
import { stopLivingAgents } from '../agent-process.ts'
import { chaosJob, chaosModel, undisturbedJob } from '../chaos/chaos-job.ts'
import { ChaosRun } from '../chaos/chaos-run.ts'
import type { Ground } from '../chaos/ground.ts'
import { openGround } from '../chaos/namespaces.ts'
import { chaosResult, chaosText, clockText, samplesOf, timelineText } from '../chaos/outcome.ts'
import { drawFaults, faultKinds, type FaultKind } from '../chaos/schedule.ts'
import type { AddCommand, CommonOptions, Context } from '../context.ts'
import { jsonOption, parseWhole } from '../context.ts'
import { runPool } from '../demo/pool-run.ts'
import { AgentEndedError, exitCodes } from '../errors.ts'
import type { EndedJob } from '../follow.ts'
import { createInterrupts } from '../interrupts.ts'
import type { Terminal } from '../terminal.ts'

interface ChaosOptions extends CommonOptions {
  readonly minutes: number
  readonly peers: number
  readonly clusters: number
  readonly seed: number
  readonly faults?: readonly FaultKind[]
  readonly backend?: string
  readonly keep?: boolean
}

const help = `
Every peer is a real agent in a process of its own; as root on Linux each has a network of its own, too. While they train
the handwritten digits, agents are killed and started again, frozen, cut off, slowed down, paused; some leave, others come.
Then one agent trains on as many samples undisturbed, and the two losses are compared. A seed draws the same faults again.

Exit code 1: the pool did not come to its end, or a sample was trained twice.

Examples:
  rookery chaos                                  two minutes, six peers
  rookery chaos --minutes 10 --peers 6 --seed 7
  rookery chaos --minutes 1 --faults kill,pause  just these, spread over the time`

/** @throws InvalidInputError */
function parseMinutes(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value > 0 && value <= 24 * 60) return value
  throw new InvalidInputError(`--minutes takes a number above 0, up to a day, not "${text}"`)
}

/** @throws InvalidInputError */
function parseFaults(text: string): FaultKind[] {
  return text.split(',').map((word) => {
    const kind = faultKinds.find((one) => one === word.trim())
    if (kind !== undefined) return kind
    throw new InvalidInputError(`--faults takes ${faultKinds.join(', ')} with commas between, not "${word}"`)
  })
}

export const addChaos: AddCommand = (program, context) => {
  const whole = (option: string, from: number, to: number) => parseWhole(option, { from, to })
  program
    .command('chaos')
    .description(
      'train in a pool on this machine while agents crash, freeze, lose their network, leave and come',
    )
    .option('--minutes <n>', 'how long things go wrong', parseMinutes, 2)
    .option('--peers <n>', 'agents to start', whole('--peers', 1, 32), 6)
    .option('--clusters <n>', 'copies of the model', whole('--clusters', 1, 32), 2)
    .option('--seed <n>', 'of faults, weights and order of samples', whole('--seed', 0, 2 ** 32 - 1), 0)
    .option('--faults <kinds>', 'exactly these, in this order, instead of random ones', parseFaults)
    .option('--backend <name>', 'auto, node-gpu, node, webgpu, kernels, wasm or cpu')
    .option('--keep', 'keep the agents’ temporary folder')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action((options: ChaosOptions) => chaos(options, context))
}

async function chaos(options: ChaosOptions, context: Context): Promise<void> {
  if (options.peers < options.clusters)
    throw new InvalidInputError(
      `${options.clusters} clusters need at least as many peers, not ${options.peers}`,
    )
  const terminal = context.terminal(options)
  const folder = await mkdtemp(join(tmpdir(), 'rookery-chaos-'))
  const ground = await openGround()
  const clear = (): void => {
    ground.clear()
    if (options.keep !== true) rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', clear)
  const interruption = new AbortController()
  using _interrupts = createInterrupts({
    orderly() {
      interruption.abort(new AbortedError('the chaos run was stopped'))
      terminal.say('ending every agent of the run (Ctrl-C again: at once)')
      stopLivingAgents()
    },
    atOnce: () => process.exit(exitCodes.failure),
  })
  try {
    await runChaos(terminal, { options, context, folder, ground, signal: interruption.signal })
  } catch (thrown) {
    throw interruption.signal.aborted ? new AbortedError('the chaos run was stopped') : thrown
  } finally {
    ground.clear()
    if (options.keep === true) terminal.say(`the agents’ folders are in ${folder}`)
    else await rm(folder, { recursive: true, force: true })
    process.off('exit', clear)
  }
}

interface Chaos {
  readonly options: ChaosOptions
  readonly context: Context
  readonly folder: string
  readonly ground: Ground
  readonly signal: AbortSignal
}

async function runChaos(terminal: Terminal, chaos: Chaos): Promise<void> {
  const { options, context, folder } = chaos
  const job = chaosJob(options)
  const run = await prepareRun(terminal, chaos, job)
  const ended = await run.live().finally(() => {
    terminal.say(`\n${timelineText(run.seen)}`)
  })
  const samples = await samplesOf(ended.result)
  terminal.say('\nThe same on one PC, undisturbed')
  const single = await runPool({
    run: 'undisturbed',
    peers: [{ name: 'one-pc' }],
    job: undisturbedJob(job, ended.result),
    ...{
      agentEntry: context.agentEntry,
      folder: join(folder, 'undisturbed'),
      backend: options.backend,
      terminal,
    },
  })
  const outcome = { seen: run.seen, samples, loss: lossOf(ended), undisturbedLoss: lossOf(single) }
  terminal.answer(`\n${chaosText(outcome)}`)
  terminal.event(chaosResult(outcome))
  if ((samples.doubled ?? 0) > 0) process.exitCode = exitCodes.failure
}

async function prepareRun(
  terminal: Terminal,
  { options, context, folder, ground, signal }: Chaos,
  job: ReturnType<typeof chaosJob>,
): Promise<ChaosRun> {
  const { peers, clusters, seed, minutes } = options
  // Every PC has room for its share of the smallest cluster: so many of them hold the model, and no fewer.
  const depth = Math.floor(peers / clusters)
  const tasks = await context.loadTasks()
  const [memoryBytes = 0] = await tasks.demoBudgetsTask({ model: chaosModel, shape: [depth] })
  const kinds = faultKinds.filter((kind) => !ground.lacks.includes(kind))
  const missing = options.faults?.find((kind) => ground.lacks.includes(kind))
  if (missing !== undefined) throw new InvalidInputError(`no ${missing} here: the agents run ${ground.text}`)
  terminal.say(`The agents run ${ground.text}; ${depth} of ${peers} can hold the model. Seed ${seed}.`)
  const durationMs = minutes * minute
  return new ChaosRun({
    ...{ agentEntry: context.agentEntry, folder, ground, memoryBytes, backend: options.backend },
    computeShare: Math.min(1, Math.max(0.05, availableParallelism() / (1.5 * peers))),
    ...{ job, peers, depth, durationMs, signal },
    faults: drawFaults({ seed, durationMs, peers, depth, kinds, sequence: options.faults }),
    tell: (text, atMs) => {
      terminal.say(`${(atMs === undefined ? '' : clockText(atMs)).padStart(6)}  ${text}`)
    },
    event: (event) => {
      terminal.event(event)
    },
  })
}

/** @throws AgentEndedError for a job that ended without a validation */
function lossOf({ name, result }: EndedJob): number {
  if (result.validation === null) throw new AgentEndedError(`${name} ended without a validation`)
  return result.validation.loss
}
