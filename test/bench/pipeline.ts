/**
 * How long a batch of 64 takes: digits-cnn on three local agents in one cluster, and on one agent alone, in one run.
 * `npm run bench -- pipeline [--json]`. The reference implementation takes 77–116 ms on three local processes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { runPool, type DemoPeer } from '../../main/cli/demo/pool-run.ts'
import type { EndedJob } from '../../main/cli/follow.ts'
import { jobFile, type JobFile } from '../../shared/job/spec.ts'
import { quietTerminal } from './quiet-terminal.ts'

const root = join(import.meta.dirname, '../..')
const batch = 64
const updates = 300

const job = (peers: number): JobFile =>
  jobFile.parse({
    name: 'bench',
    model: 'digits-cnn',
    data: { type: 'csv', path: join(root, 'resources/samples/digits.csv.gz') },
    recipe: { schedule: { microBatch: batch, accumulate: 4 } },
    target: { updates },
    gathering: { peers, clusters: 1 },
  })

/** Milliseconds a batch from the start of training to the last validation, which is counted too. */
function millisecondsPerBatch({ result }: EndedJob): number {
  return (result.seconds * 1000) / (result.samples / batch)
}

export async function benchPipeline(): Promise<Record<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-bench-'))
  const run = (name: string, peers: readonly DemoPeer[]) =>
    runPool({
      agentEntry: join(root, 'main/agent/index.ts'),
      folder: join(folder, name),
      backend: undefined,
      peers,
      job: job(peers.length),
      terminal: quietTerminal,
      run: name,
    })
  try {
    const budgets = await demoBudgetsTask({ model: 'digits-cnn', shape: [3], microBatch: batch })
    const three = await run(
      'three',
      budgets.map((memoryBytes, index) => ({ name: `peer-${index + 1}`, memoryBytes })),
    )
    const one = await run('one', [{ name: 'one' }])
    return {
      threeAgentsMsPerBatch: millisecondsPerBatch(three),
      oneAgentMsPerBatch: millisecondsPerBatch(one),
      ratio: millisecondsPerBatch(three) / millisecondsPerBatch(one),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
