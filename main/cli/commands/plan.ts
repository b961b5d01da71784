/** `rookery plan`: which PCs would hold what, without starting anything. */
import { resolve } from 'node:path'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { MemberView } from '../../../shared/messages/control.ts'
import { previousPlan } from '../../../shared/plan/plan.ts'
import { modelProfile, pool } from '../../../shared/plan/pool.ts'
import type { AddCommand, CommonOptions } from '../context.ts'
import { jsonOption, modelReference, parseWhole } from '../context.ts'
import { exitCodes } from '../errors.ts'
import { readJsonFile } from '../json-file.ts'
import type { PlanMoves, PlanResult, PlanTask } from '../tasks.ts'
import type { Terminal } from '../terminal.ts'
import { clusterRows } from '../view/cluster-rows.ts'
import { harmless } from '../view/columns.ts'
import { remedyRows } from '../view/simulation-text.ts'
import { formatBytes, formatDuration, formatRate } from '../view/numbers.ts'

export interface PlanOptions extends CommonOptions {
  readonly pool: string
  readonly model?: string
  readonly profile?: string
  readonly previous?: string
  readonly seed: number
}

const help = `
POOL.json: {"peers":[{"id","memoryBytes","flopsPerSecond","uploadBytesPerSecond","downloadBytesPerSecond",
                      "availability":{"hoursPerDay","batteryShare","reliability"}}],
            "links":[{"between":[id,id],"latencySeconds","bytesPerSecond"}],"defaultLatencySeconds"}
PROFILE.json: {"name","layers":[{"name","parameterBytes","activationBytesPerSample",
               "workingBytesPerSample","flopsPerSample"}],"stateFactor","microBatch","inFlight",
               "accumulate","averageEveryUpdates","backwardFactor"}

Exits with 2 when the model does not fit, and says how much memory is missing.

Examples:
  rookery plan --pool POOL.json --model gpt-mini
  rookery plan --pool POOL.json --profile PROFILE.json --seed 1 --json > PLAN.json
  rookery plan --pool POOL-NOW.json --profile PROFILE.json --previous PLAN.json`

export const addPlan: AddCommand = (program, context) => {
  program
    .command('plan')
    .description('plan which peers form which cluster and who holds which layers')
    .requiredOption('--pool <file>', 'the PCs and the links between them')
    .option('--model <name>', 'a preset, or the path of a graph file')
    .option('--profile <file>', 'a model by its layers’ bytes and operations')
    .option('--previous <file>', 'the plan in force, as --json printed it: keep what can stay where it is')
    .option('--seed <number>', 'of the search', parseWhole('--seed', { from: 0, to: 2 ** 32 - 1 }), 0)
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (options: PlanOptions) => {
      const terminal = context.terminal(options)
      const task = await readPlanTask(options)
      const result = await (await context.loadTasks()).planTask(task)
      process.exitCode = showPlan(terminal, result)
    })
}

/** @throws InvalidInputError naming the file, or the option that is missing */
export async function readPlanTask(options: PlanOptions): Promise<PlanTask> {
  if ((options.model === undefined) === (options.profile === undefined)) {
    throw new InvalidInputError('give either --model or --profile, not both')
  }
  const task = {
    pool: await readJsonFile(resolve(options.pool), pool),
    seed: options.seed,
    ...(options.previous === undefined
      ? {}
      : { previous: (await readJsonFile(resolve(options.previous), previousPlan)).clusters }),
  }
  if (options.profile !== undefined) {
    return { ...task, profile: await readJsonFile(resolve(options.profile), modelProfile) }
  }
  return { ...task, model: modelReference(options.model ?? '', process.cwd()) }
}

function showPlan(terminal: Terminal, result: PlanResult): number {
  terminal.event({ event: 'result', ...result })
  if (!result.feasible) {
    terminal.say(`the model does not fit: ${result.reason} (${formatBytes(result.shortfallBytes)} missing)`)
    return exitCodes.badInput
  }
  terminal.answer(planText(result, terminal))
  return exitCodes.done
}

const noMembers: readonly MemberView[] = []

function planText(
  layout: Extract<PlanResult, { feasible: true }>,
  terminal: Pick<Terminal, 'size' | 'paint'>,
): string {
  const { columns } = terminal.size()
  const { paint } = terminal
  const averaging =
    layout.clusters.length > 1 ? `, an averaging round takes ${formatSeconds(layout.averagingSeconds)}` : ''
  return [
    `${formatRate(layout.samplesPerSecond)} in all${averaging}; planned in ${formatSeconds(layout.planSeconds)}`,
    ...movesText(layout),
    ...clusterRows(layout, noMembers, { columns, paint }),
    ...(layout.unused.length === 0 ? [] : [paint('title', 'not used')]),
    ...layout.unused.map(({ peer, reason }) => `  ${harmless(peer)}: ${harmless(reason)}`),
    `why not faster: ${harmless(layout.bottleneck.sentence)}`,
    ...remedyRows(layout.bottleneck.remedies),
  ].join('\n')
}

function movesText({ movedBytes, fullMoveBytes, bestSamplesPerSecond }: Partial<PlanMoves>): string[] {
  if (movedBytes === undefined || fullMoveBytes === undefined || bestSamplesPerSecond === undefined) return []
  const all = `all stages are ${formatBytes(fullMoveBytes)}`
  return [
    `${formatBytes(movedBytes)} move (${all}); planned anew it would be ${formatRate(bestSamplesPerSecond)}`,
  ]
}

const formatSeconds = (seconds: number): string =>
  seconds < 10 ? `${seconds.toPrecision(2)} s` : formatDuration(seconds)
