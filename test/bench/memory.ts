/**
 * Tensor memory of gpt-mini at equal batch: mean over the stages of their peaks against one process, on the engine
 * itself, with as much in flight as a plan of that depth has. `npm run bench -- memory [--json]`.
 * The paper's figures are −42 % with two stages and −56 % with three.
 */
import { resolveModel } from '../../main/agent/models.ts'
import { profileOf } from '../../main/core/model/profile.ts'
import { createCostModel } from '../../main/core/planner/cost.ts'
import { createTfjsEngine } from '../../main/edge/engine/tfjs/stage-engine.ts'
import { recipe } from '../../shared/job/recipe.ts'
import { peakOf } from '../measures/stage-peak.ts'

const microBatch = 4

/** Cuts into so many stages whose largest reserved memory is least; few enough to try all. */
function evenCuts(count: number, depth: number, memory: (from: number, to: number) => number): number[] {
  const split = (from: number, stages: number): { most: number; cuts: number[] } => {
    if (stages === 1) return { most: memory(from, count), cuts: [] }
    let best = { most: Infinity, cuts: [] as number[] }
    for (let cut = from + 1; cut <= count - stages + 1; cut++) {
      const rest = split(cut, stages - 1)
      const most = Math.max(memory(from, cut), rest.most)
      if (most < best.most) best = { most, cuts: [cut, ...rest.cuts] }
    }
    return best
  }
  return [0, ...split(0, depth).cuts, count]
}

export async function benchMemory(): Promise<Record<string, number>> {
  const graph = await resolveModel('gpt-mini')
  const count = graph.layers.length
  const engine = await createTfjsEngine({ backend: 'wasm' })
  const profile = profileOf(graph, recipe.parse({ schedule: { microBatch } }))
  const cost = createCostModel({ peers: [], links: [], defaultLatencySeconds: 0 }, profile)
  const single = await peakOf(engine, { graph, layers: [0, count], microBatch, inFlight: 1 })

  async function shareOf(depth: number): Promise<number> {
    const cuts = evenCuts(count, depth, (from, to) => cost.memoryBytes([from, to]))
    let sum = 0
    for (let stage = 0; stage < depth; stage++) {
      const layers = [cuts[stage] ?? 0, cuts[stage + 1] ?? count] as const
      sum += await peakOf(engine, { graph, layers, microBatch, inFlight: depth + 1 })
    }
    return sum / depth / single
  }
  return { singleBytes: single, twoStagesShare: await shareOf(2), threeStagesShare: await shareOf(3) }
}
