/** `rookery demo`: a whole pool on this machine, compared with one PC alone. */
import { rmSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { AbortedError, InvalidInputError } from '../../../shared/errors.ts'
import { stopLivingAgents } from '../agent-process.ts'
import type { AddCommand, CommonOptions, Context } from '../context.ts'
import { jsonOption, parseWhole } from '../context.ts'
import { demoShape, plainJob, poolJob, readDemoModel, singleJob } from '../demo/demo-job.ts'
import type { DemoModel } from '../demo/demo-job.ts'
import { demoPeerName, demoResult, demoText, planOf } from '../demo/outcome.ts'
import { runPool } from '../demo/pool-run.ts'
import type { DemoPeer, PoolRun } from '../demo/pool-run.ts'
import { exitCodes, JobFailedError } from '../errors.ts'
import type { EndedJob } from '../follow.ts'
import { createInterrupts } from '../interrupts.ts'
import type { Terminal } from '../terminal.ts'

interface DemoOptions extends CommonOptions {
  readonly peers: number
  readonly clusters: number
  readonly model: string
  readonly updates?: number
  readonly seed: number
  readonly backend?: string
  readonly output?: string
  readonly plain?: boolean
  readonly keep?: boolean
}

const help = `
Every peer is a real agent in a process of its own, with so little memory that none can hold the model alone;
they find each other by the invite, over TCP on this machine. Then one agent trains the same model alone,
with the same seed and as many samples an update, and the two results are compared.

Examples:
  rookery demo                                  five peers, two clusters, handwritten digits
  rookery demo --model gpt-mini --updates 300   a small language model on Moby-Dick
  rookery demo --peers 3 --clusters 1 --plain   also without what repairs staleness
  rookery demo --json                           the same for scripts`

export const addDemo: AddCommand = (program, context) => {
  const whole = (option: string, from: number, to: number) => parseWhole(option, { from, to })
  program
    .command('demo')
    .description('train a model in a pool of agents on this machine and compare it with one PC alone')
    .option('--peers <n>', 'agents to start', whole('--peers', 1, 64), 5)
    .option('--clusters <n>', 'copies of the model', whole('--clusters', 1, 64), 2)
    .option('--model <name>', 'digits-…, gpt-… or bert-… preset, or the path of a graph file', 'digits-cnn')
    .option(
      '--updates <n>',
      'updates of each cluster (default: the model’s recipe)',
      whole('--updates', 1, 1e6),
    )
    .option('--seed <n>', 'of weights and order of samples', whole('--seed', 0, 2 ** 32 - 1), 0)
    .option('--plain', 'train also without accumulation and staleness correction')
    .option('--output <dir>', 'where the finished model goes (default: ./rookery-demo-<model>)')
    .option('--backend <name>', 'auto, node-gpu, node, webgpu, kernels, wasm or cpu')
    .option('--keep', 'keep the agents’ temporary folder')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action((options: DemoOptions) => demo(options, context))
}

async function demo(options: DemoOptions, context: Context): Promise<void> {
  const terminal = context.terminal(options)
  const model = await readDemoModel(options.model)
  const shape = demoShape(options.peers, options.clusters)
  const output = resolve(options.output ?? `rookery-demo-${model.name}`)
  await mustBeOurs(output)
  const folder = await mkdtemp(join(tmpdir(), 'rookery-demo-'))
  const remove = (): void => {
    if (options.keep !== true) rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', remove)
  const interruption = new AbortController()
  using _interrupts = createInterrupts({
    orderly() {
      interruption.abort()
      terminal.say('ending every agent of the demo (Ctrl-C again: at once)')
      stopLivingAgents()
    },
    atOnce: () => process.exit(exitCodes.failure),
  })
  try {
    await runDemo(terminal, { options, context, model, shape, folder, output })
  } catch (thrown) {
    throw interruption.signal.aborted ? new AbortedError('the demo was stopped') : thrown
  } finally {
    if (options.keep === true) terminal.say(`the agents’ folders are in ${folder}`)
    else await rm(folder, { recursive: true, force: true })
    process.off('exit', remove)
  }
}

interface Demo {
  readonly options: DemoOptions
  readonly context: Context
  readonly model: DemoModel
  readonly shape: readonly number[]
  readonly folder: string
  readonly output: string
}

async function runDemo(terminal: Terminal, demo: Demo): Promise<void> {
  const { options, model } = demo
  const peers = await demoPeers(demo)
  const job = poolJob(model, options)
  const pool = await train(terminal, demo, { run: 'pool', peers, job })
  await saveModel(pool, demo.output)
  const { accumulate, layout } = planOf(pool)
  const clusters = layout.clusters.length
  const single = await train(terminal, demo, {
    run: 'baseline',
    peers: [{ name: 'one-pc' }],
    job: singleJob(job, { accumulate, clusters }),
  })
  const plain =
    options.plain === true
      ? await train(terminal, demo, { run: 'plain', peers, job: plainJob(job, { accumulate }) })
      : undefined
  const runs = { peers: options.peers, pool, single, plain, model: demo.output }
  terminal.answer(`\n${demoText(runs)}`)
  terminal.event(demoResult(runs))
}

const headings: Readonly<Record<string, string>> = {
  pool: 'Training in the pool',
  baseline: 'Training the same on one PC alone',
  plain: 'Training in the pool again, without accumulation and staleness correction',
}

function train(
  terminal: Terminal,
  demo: Demo,
  run: Pick<PoolRun, 'run' | 'peers' | 'job'>,
): Promise<EndedJob> {
  terminal.say(terminal.paint('title', `\n${headings[run.run] ?? run.run}`))
  return runPool({
    ...run,
    agentEntry: demo.context.agentEntry,
    folder: join(demo.folder, run.run),
    backend: demo.options.backend,
    terminal,
  })
}

/** Peers that have to share: with the budgets of the task, none of a cluster of several can hold the model alone. */
async function demoPeers({ options, context, model, shape }: Demo): Promise<DemoPeer[]> {
  const names = Array.from({ length: options.peers }, (_, index) => demoPeerName(index))
  if (shape.every((stages) => stages === 1)) return names.map((name) => ({ name }))
  const tasks = await context.loadTasks()
  const { microBatch } = model.recipe
  const { backend } = options
  const budgets = await tasks.demoBudgetsTask({ model: model.reference, shape, microBatch, backend })
  return names.map((name, index) => {
    const memoryBytes = budgets[index]
    return memoryBytes === undefined ? { name } : { name, memoryBytes }
  })
}

/** The folder is new, empty, or holds the model of an earlier demo. @throws InvalidInputError */
async function mustBeOurs(output: string): Promise<void> {
  const found = await readdir(output).catch((thrown: unknown): string[] => {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return []
    throw new InvalidInputError(`the model cannot go to ${output}: it is not a folder`)
  })
  if (found.length === 0 || found.includes('model.json')) return
  throw new InvalidInputError(`${output} holds something else; choose another --output`)
}

async function saveModel({ result }: EndedJob, output: string): Promise<void> {
  if (result.model === null) throw new JobFailedError('the pool finished without a model')
  await rm(output, { recursive: true, force: true })
  await cp(result.model, output, { recursive: true })
}
