/**
 * Tensor memory of gpt-mini at equal batch: mean over the stages of their peaks against one process, on our own kernels,
 * with as much in flight as the plan has. `npm run bench -- memory [--json]`. The paper's figures are −42 % with two
 * stages and −56 % with three. Peers have the demo's budgets, so the planner recomputes in them; beside that, the
 * same stages where memory is plenty. And what a process grows by over a thousand updates.
 */
import { demoBudgetsTask } from '../../main/agent/tasks/demo-budgets.ts'
import { resolveModel } from '../../main/agent/models.ts'
import { layoutOfJob } from '../../main/core/job/job-layout.ts'
import { planInForce } from '../../main/core/job/plan-in-force.ts'
import { createWasmEngine } from '../../main/edge/engine/wasm/stage-engine.ts'
import { DoesNotFitError } from '../../shared/errors.ts'
import { recipe } from '../../shared/job/recipe.ts'
import type { ModelGraph } from '../../shared/model/graph.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import { mebibyte } from '../../shared/units.ts'
import { createRounds, peakOf } from '../measures/stage-peak.ts'

const microBatch = 4
const job = recipe.parse({ schedule: { microBatch } })
const [flopsPerSecond, bytesPerSecond] = [5e10, 1e8]

/** One cluster of so many peers with the demo's budgets. */
async function planOf(graph: ModelGraph, depth: number): Promise<Plan> {
  const budgets = await demoBudgetsTask({ model: graph.name, shape: [depth], microBatch })
  const peers = budgets.map((memoryBytes, index) => ({
    ...{ id: `pc-${index}`, memoryBytes, flopsPerSecond },
    ...{ uploadBytesPerSecond: bytesPerSecond, downloadBytesPerSecond: bytesPerSecond },
  }))
  const pool = { peers, links: [], defaultLatencySeconds: 0.001 }
  const layout = layoutOfJob({ pool, graph, recipe: job, seed: 0, clusters: 1 })
  if ('feasible' in layout) throw new DoesNotFitError(layout.shortfallBytes, layout.reason)
  return planInForce(layout, job, 1)
}

export async function benchMemory(): Promise<Record<string, number>> {
  const graph = await resolveModel('gpt-mini')
  const engine = createWasmEngine({ kernels: 'auto', threads: 1 })
  const single = await peakOf(engine, { graph, layers: [0, graph.layers.length], microBatch, inFlight: 1 })

  async function sharesOf(depth: number) {
    const plan = await planOf(graph, depth)
    const inFlight = plan.inFlight[0] ?? 1
    const stages = plan.layout.clusters.flatMap((cluster) => cluster.stages)
    const sums = { planned: 0, kept: 0, recomputing: 0 }
    for (const { layers, recompute = false } of stages) {
      const load = { graph, layers, microBatch, inFlight }
      sums.planned += await peakOf(engine, { ...load, recompute })
      sums.kept += await peakOf(engine, { ...load, recompute: false })
      if (recompute) sums.recomputing++
    }
    const share = (sum: number) => sum / stages.length / single
    return { share: share(sums.planned), kept: share(sums.kept), recomputing: sums.recomputing }
  }

  const [two, three] = [await sharesOf(2), await sharesOf(3)]
  return {
    singleBytes: single,
    ...{ twoStagesShare: two.share, twoStagesRecomputing: two.recomputing, twoStagesKeepingShare: two.kept },
    ...{ threeStagesShare: three.share, threeStagesRecomputing: three.recomputing },
    threeStagesKeepingShare: three.kept,
    ...(await growth()),
  }
}

/** Of tensors and of the process, over a thousand updates after the first hundred. */
async function growth() {
  const graph = await resolveModel('digits-cnn')
  const engine = createWasmEngine({ kernels: 'auto', threads: 1 })
  const load = { graph, layers: [0, 6] as const, microBatch: 16, inFlight: 3, recompute: false }
  const next = await createRounds(engine, load)
  const held = async () => ({ tensors: (await engine.memory()).bytes, process: process.memoryUsage.rss() })
  for (let round = 0; round < 100; round++) await next()
  const before = await held()
  for (let round = 0; round < 1000; round++) await next()
  const after = await held()
  await engine.unload()
  return {
    tensorBytesGrown: after.tensors - before.tensors,
    residentMebibytesGrown: (after.process - before.process) / mebibyte,
  }
}
