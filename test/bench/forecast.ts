/**
 * What a pool was promised beside what it came to: samples a second by the plan in force, as measured, and simulated. Real agents,
 * four of the pools in network namespaces whose lines decide, two the demos', whose agents share this machine's processors.
 * `npm run bench -- forecast [--only "one slow PC"] [--json]`. Shapes namespaces of this machine, so it needs root.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { profileOf } from '../../main/core/model/profile.ts'
import { createCostModel } from '../../main/core/planner/cost.ts'
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { demoShape, poolJob, readDemoModel } from '../../main/cli/demo/demo-job.ts'
import { demoPeerName } from '../../main/cli/demo/outcome.ts'
import { runPool, type DemoPeer } from '../../main/cli/demo/pool-run.ts'
import type { EndedJob } from '../../main/cli/follow.ts'
import { InvalidInputError, InvariantError } from '../../shared/errors.ts'
import { jobFile, type JobFile } from '../../shared/job/spec.ts'
import { peerId } from '../../shared/ids.ts'
import { median } from '../../shared/median.ts'
import { plan } from '../../shared/plan/plan.ts'
import { modelProfile, pool as poolSchema } from '../../shared/plan/pool.ts'
import { createRng, nextInt } from '../../shared/random.ts'
import { simulate } from '../../main/simulation/simulate.ts'
import { noStragglers } from '../../main/simulation/stragglers.ts'
import { whyNoNamespaces } from './average/namespaces.ts'
import { cases, type DemoCase, demos, microBatch, side, type ForecastCase } from './forecast/cases.ts'
import { layNetwork } from './forecast/network.ts'
import { quietTerminal } from './quiet-terminal.ts'

const agentEntry = join(import.meta.dirname, '../../main/agent/index.ts')
const samples = 1024
/** Each demo is run so often, and the median counts: a shared machine is slower for seconds at a time. */
const demoRuns = 3
/** Of a simulated job. */
const longestMinutes = 60

const figures = z.object({ samplesPerSecond: z.number() })
const sharedProcessors = z.object({
  peers: z.array(peerId).transform((peers) => new Set(peers)),
  processors: z.number(),
  crowd: z.object({ slower: z.number(), callSeconds: z.number(), exchangeSeconds: z.number() }).optional(),
})
const report = z.object({
  updates: z.number(),
  plan,
  comparison: z.object({
    forecast: figures.extend({ judgingSeconds: z.number() }),
    truth: figures,
    ground: z.object({ pool: poolSchema, profile: modelProfile }),
    shared: sharedProcessors.nullable(),
  }),
})

async function writeData(path: string): Promise<void> {
  const rng = createRng(1)
  const rows = Array.from({ length: samples }, () => {
    const label = nextInt(rng, 10)
    const values = Array.from({ length: side * side }, (_, pixel) =>
      pixel % 10 === label ? 255 : nextInt(rng, 64),
    )
    return [...values, label].join()
  })
  await writeFile(path, `${rows.join('\n')}\n`)
}

const jobOf = (one: ForecastCase, path: string): JobFile =>
  jobFile.parse({
    name: one.name,
    model: one.graph,
    data: { type: 'csv', path },
    recipe: {
      schedule: { microBatch },
      codec: 'fp32',
      sync: { averageEveryUpdates: one.averageEveryUpdates },
    },
    target: { updates: one.updates },
    validation: { share: 0.0625 },
    gathering: { peers: one.places.length },
  })

function budgetOf({ graph, memoryShare }: ForecastCase, { recipe }: JobFile): number {
  const cost = createCostModel({ peers: [], links: [], defaultLatencySeconds: 0 }, profileOf(graph, recipe))
  return Math.ceil(memoryShare * cost.memoryBytes([0, graph.layers.length]))
}

const reportOf = async ({ name, result }: EndedJob) => {
  if (result.model === null) throw new InvariantError(`${name} ended without a model`)
  return report.parse(JSON.parse(await readFile(join(result.model, 'report.json'), 'utf8')))
}
type Report = z.infer<typeof report>

/** Samples a second of the same pool and plan in the simulator, for as many updates and with as many validations. */
async function simulatedRate({ updates, plan: inForce, comparison }: Report): Promise<number> {
  const { ground, shared, forecast } = comparison
  const { pool } = ground
  const profile = { ...ground.profile, accumulate: inForce.accumulate }
  const { samples, endedSeconds } = await simulate({
    ...{ pool, profile, layout: inForce.layout, schedule: () => inForce, targetUpdates: updates },
    ...{ seed: 0, minutes: longestMinutes, stragglers: noStragglers, loss: 0 },
    ...(shared && { shared }),
  })
  if (endedSeconds === undefined) throw new InvariantError('the simulated job did not end in time')
  return samples / (endedSeconds + forecast.judgingSeconds)
}

async function figuresOf(ended: EndedJob): Promise<Record<string, number>> {
  const found = await reportOf(ended)
  const { forecast, truth } = found.comparison
  const [promised, measured] = [forecast.samplesPerSecond, truth.samplesPerSecond]
  const simulated = await simulatedRate(found)
  return {
    'promised samples/s': promised,
    'measured samples/s': measured,
    'measured / promised': measured / promised,
    'simulated samples/s': simulated,
    'measured / simulated': measured / simulated,
  }
}

/** Who holds what, in one line. */
function planInWords({ plan, members }: EndedJob): string {
  const names = new Map(members.map(({ peer, displayName }) => [peer, displayName]))
  const clusters = plan?.layout.clusters ?? []
  return clusters
    .map(({ stages }) =>
      stages
        .map(({ peer, layers, codec }) => `${names.get(peer) ?? peer} ${layers.join('-')} ${codec ?? ''}`)
        .join('→ '),
    )
    .join(' | ')
}

async function runCase(one: ForecastCase, folder: string) {
  const path = join(folder, 'data.csv')
  await writeData(path)
  const job = jobOf(one, path)
  const memoryBytes = budgetOf(one, job)
  const network = layNetwork(one.places, one.homes)
  try {
    const peers = one.places.map(({ computeShare }, pc): DemoPeer => ({
      name: `pc-${pc + 1}`,
      memoryBytes,
      address: network.address(pc),
      within: network.within(pc),
      ...(computeShare === undefined ? {} : { computeShare }),
    }))
    const ended = await runPool({
      ...{ agentEntry, folder, backend: 'kernels', peers, job, terminal: quietTerminal, run: one.name },
    })
    return ended
  } finally {
    network.clear()
  }
}

/** As `rookery demo` does, without the comparison with one PC. */
async function runDemo({ model: name, updates }: DemoCase, folder: string) {
  const [peers, clusters] = [5, 2]
  const model = await readDemoModel(name)
  const { microBatch } = model.recipe
  const budgets = await demoBudgetsTask({ model: name, shape: demoShape(peers, clusters), microBatch })
  return runPool({
    ...{ agentEntry, folder, backend: 'kernels', terminal: quietTerminal, run: name },
    peers: budgets.map((memoryBytes, index) => ({ name: demoPeerName(index), memoryBytes })),
    job: poolJob(model, { model: name, peers, clusters, updates, seed: 0 }),
  })
}

/** @param only - names of cases; none: all @throws InvalidInputError without root */
export async function benchForecast(only: readonly string[] = []): Promise<Record<string, number>> {
  const runs = [
    ...cases.map((one) => ({ name: one.name, shaped: true, run: (folder: string) => runCase(one, folder) })),
    ...demos.map((one) => ({ name: one.name, shaped: false, run: (folder: string) => runDemo(one, folder) })),
  ].filter(({ name }) => only.length === 0 || only.includes(name))
  const reason = whyNoNamespaces()
  if (reason !== undefined && runs.some(({ shaped }) => shaped)) throw new InvalidInputError(reason)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const found: Record<string, number> = {}
  for (const { name, shaped, run } of runs) {
    const seen: Record<string, number>[] = []
    for (let time = 0; time < (shaped ? 1 : demoRuns); time++) seen.push(await measured(name, run))
    for (const figure of Object.keys(seen[0] ?? {}))
      found[`${name}: ${figure}`] = median(seen.map((figures) => figures[figure] ?? NaN))
  }
  return found
}

async function measured(
  name: string,
  run: (folder: string) => Promise<EndedJob>,
): Promise<Record<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-bench-'))
  try {
    const ended = await run(folder)
    const figures = await figuresOf(ended)
    const ratio = (figures['measured / promised'] ?? 0).toFixed(2)
    process.stderr.write(
      `${name}: ${planInWords(ended)}, ${ended.result.seconds.toFixed(1)} s, ${ratio} of the promise\n`,
    )
    return figures
  } finally {
    if (process.env['KEEP'] === undefined) await rm(folder, { recursive: true, force: true })
    else process.stderr.write(`${folder}\n`)
  }
}
