/**
 * What the pipeline makes of its processors: three equal stages against the same with one credit in virtual time; two
 * real ones, agents of their own, against the same on this machine; the busy share of three that compute all the time;
 * and the time of a batch so small that messages are most of it. `npm run bench -- pipeline [--only mlp] [--json]`.
 * The reference implementation takes 25 ms for that batch.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { profileOf } from '../../main/core/model/profile.ts'
import { createCostModel } from '../../main/core/planner/cost.ts'
import { runPool } from '../../main/cli/demo/pool-run.ts'
import type { EndedJob } from '../../main/cli/follow.ts'
import { jobFile, type JobFile } from '../../shared/job/spec.ts'
import { modelGraph } from '../../shared/model/graph.ts'
import { createRng, nextInt } from '../../shared/random.ts'
import { busyShares } from './pipeline/busy.ts'
import { virtualMs } from './pipeline/virtual.ts'
import { quietTerminal } from './quiet-terminal.ts'

const root = join(import.meta.dirname, '../..')
const batch = 64
const pixels = 784
const samples = 1024
const accumulate = 4

/** 784-…-10. */
const perceptron = (widths: readonly number[]) =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'perceptron',
    task: 'classify',
    input: { type: 'values', shape: [pixels] },
    layers: [
      ...widths.flatMap((units, index) => [
        { type: 'dense', name: `dense-${index}`, units },
        { type: 'relu', name: `relu-${index}` },
      ]),
      { type: 'dense', name: 'head', units: 10 },
    ],
    loss: { type: 'cross-entropy' },
  })
type Graph = ReturnType<typeof perceptron>

/** 76 thousand parameters. */
const small = perceptron([96])
/** Wide enough that a batch takes longer than any message, and as much work in every third of it. */
const large = perceptron([1024, 1024, 1024, 1024, 1024, 1024])

interface Run {
  readonly graph: Graph
  readonly peers: number
  readonly updates: number
  readonly inFlight?: number
}

const jobOf = ({ graph, peers, updates, inFlight }: Run, path: string): JobFile =>
  jobFile.parse({
    name: 'bench',
    model: graph,
    data: { type: 'csv', path },
    recipe: { schedule: { microBatch: batch, accumulate, ...(inFlight === undefined ? {} : { inFlight }) } },
    target: { updates },
    validation: { share: 0.0625 },
    gathering: { peers, clusters: 1 },
  })

/** A budget by which nobody can hold much more than its even share. */
function budgetOf({ graph, peers }: Run, job: JobFile): number {
  const profile = profileOf(graph, job.recipe)
  const cost = createCostModel({ peers: [], links: [], defaultLatencySeconds: 0 }, profile)
  const count = graph.layers.length
  const largest = (cuts: readonly number[]) =>
    Math.max(...cuts.slice(1).map((to, index) => cost.memoryBytes([cuts[index] ?? 0, to])))
  const cutsInto = (stages: number, from: number): number[][] =>
    stages === 1
      ? [[from, count]]
      : Array.from({ length: count - from - stages + 1 }, (_, index) => from + index + 1).flatMap((cut) =>
          cutsInto(stages - 1, cut).map((rest) => [from, ...rest]),
        )
  return Math.ceil(Math.min(...cutsInto(peers, 0).map(largest)))
}

async function writeData(path: string): Promise<void> {
  const rng = createRng(1)
  const rows = Array.from({ length: samples }, () => {
    const label = nextInt(rng, 10)
    return [
      ...Array.from({ length: pixels }, (_, at) => (at % 10 === label ? 255 : nextInt(rng, 64))),
      label,
    ].join()
  })
  await writeFile(path, `${rows.join('\n')}\n`)
}

/** Milliseconds a batch from the start of training to the last validation, which is counted too. */
const msPerBatch = ({ result }: EndedJob): number => (result.seconds * 1000) / (result.samples / batch)

/**
 * What each agent wrote of its event loop: the latest that a timer of any was, the longest that any worked at a stretch,
 * and what 99 of 100 delays were within. With more processes than cores a timer is late without a block.
 */
async function loopOf(
  folder: string,
  names: readonly string[],
): Promise<{ longestMs: number; ownMs: number; mostlyMs: number }> {
  const logs = await Promise.all(
    names.map((name) => readFile(join(folder, name, 'logs/agent.log'), 'utf8').catch(() => '')),
  )
  const most = (what: string) =>
    Math.max(
      ...logs.flatMap((log) =>
        [...log.matchAll(new RegExp(`"${what}":(\\d+)`, 'g'))].map(([, ms]) => Number(ms)),
      ),
    )
  return { longestMs: most('longestMs'), ownMs: most('ownMs'), mostlyMs: most('mostlyMs') }
}

async function runOf(folder: string, name: string, run: Run) {
  const own = join(folder, name)
  const job = jobOf(run, join(folder, 'data.csv'))
  const memoryBytes = budgetOf(run, job)
  const peers = Array.from({ length: run.peers }, (_, index) => ({ name: `peer-${index + 1}`, memoryBytes }))
  const ended = await runPool({
    agentEntry: join(root, 'main/agent/index.ts'),
    ...{ folder: own, backend: 'kernels', peers, job, terminal: quietTerminal, run: name },
  })
  const stages = ended.plan?.layout.clusters.map((cluster) => cluster.stages.length) ?? []
  if (stages.join() !== String(run.peers))
    process.stderr.write(`${name}: planned as ${stages.join()} stages\n`)
  return {
    ended,
    loop: await loopOf(
      own,
      peers.map((peer) => peer.name),
    ),
  }
}

type Part = (folder: string) => Promise<Record<string, number>>

const parts: Readonly<Record<string, Part>> = {
  async virtual() {
    const [synchronous, pipelined] = [await virtualMs(1), await virtualMs(4)]
    return { 'three stages in virtual time, times one credit': synchronous / pipelined }
  },
  async mlp(folder) {
    const { ended, loop } = await runOf(folder, 'mlp', { graph: small, peers: 2, updates: 600 })
    return {
      'small batch ms': msPerBatch(ended),
      'small batch: event loop blocked at most ms': loop.ownMs,
      'small batch: event loop late at most ms': loop.longestMs,
      'small batch: 99 of 100 delays within ms': loop.mostlyMs,
    }
  },
  async two(folder) {
    const run = { graph: large, peers: 2, updates: 60 }
    const pipelined = await runOf(folder, 'two', run)
    const synchronous = await runOf(folder, 'two-synchronous', { ...run, inFlight: 1 })
    return {
      'two stages ms': msPerBatch(pipelined.ended),
      'two stages, times one credit': msPerBatch(synchronous.ended) / msPerBatch(pipelined.ended),
    }
  },
  async busy() {
    const { most, least, msPerBatch } = await busyShares()
    return {
      'three processes that compute 30 ms a batch: busy share of the slowest': most,
      'three processes that compute 30 ms a batch: busy share of the fastest': least,
      'three processes that compute 30 ms a batch: ms': msPerBatch,
    }
  },
  async three(folder) {
    const { ended, loop } = await runOf(folder, 'three', { graph: large, peers: 3, updates: 80 })
    return {
      'three stages ms': msPerBatch(ended),
      'busy share of the slowest of three': Math.max(...ended.members.map(({ busyShare }) => busyShare)),
      'three stages: event loop blocked at most ms': loop.ownMs,
      'three stages: event loop late at most ms': loop.longestMs,
      'three stages: 99 of 100 delays within ms': loop.mostlyMs,
    }
  },
}

/** @param only - names of parts; none: all */
export async function benchPipeline(only: readonly string[] = []): Promise<Record<string, number>> {
  const processors = cpus()
  process.stderr.write(`${processors[0]?.model ?? 'unknown processor'}, ${processors.length} cores\n`)
  const folder = await mkdtemp(join(tmpdir(), 'rookery-bench-'))
  const figures: Record<string, number> = {}
  try {
    await writeData(join(folder, 'data.csv'))
    for (const [name, part] of Object.entries(parts))
      if (only.length === 0 || only.includes(name)) Object.assign(figures, await part(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return figures
}
