/** Memory budgets that leave a pool no choice but clusters of given depths: the demo’s model alone would fit anywhere. */
import { InvalidInputError } from '../../../shared/errors.ts'
import { recipe } from '../../../shared/job/recipe.ts'
import type { ModelProfile } from '../../../shared/plan/pool.ts'
import type { Bytes } from '../../../shared/units.ts'
import { profileOf, tapedMemoryFactor } from '../../core/model/profile.ts'
import { createCostModel } from '../../core/planner/cost.ts'
import { resolveModel } from '../models.ts'

/**
 * A peer’s budget is the largest stage of the most even cut of its cluster’s depth.
 *
 * @returns budgets, a peer each, cluster after cluster
 * @throws InvalidInputError when the model has fewer layers than a cluster has stages
 */
export async function demoBudgetsTask(task: {
  readonly model: string
  readonly shape: readonly number[]
  readonly microBatch?: number
  /** Of the peers; undefined: our own kernels. */
  readonly backend?: string | undefined
}): Promise<readonly Bytes[]> {
  const graph = await resolveModel(task.model)
  const settings = recipe.parse(
    task.microBatch === undefined ? {} : { schedule: { microBatch: task.microBatch } },
  )
  const profile = profileOf(graph, settings)
  // Whatever is not our own kernels is TensorFlow.js, of whose memory the planner counts less.
  const isOwn = task.backend === undefined || ['auto', 'kernels'].includes(task.backend)
  const factor = isOwn ? 1 : tapedMemoryFactor(graph, settings)
  const deepest = Math.max(...task.shape)
  if (deepest > graph.layers.length)
    throw new InvalidInputError(
      `a model of ${graph.layers.length} layers cannot be cut into ${deepest} stages; use fewer peers or more clusters`,
    )
  return task.shape.flatMap((depth) => {
    const budget = Math.ceil(factor * evenCut(profile, depth))
    return Array.from({ length: depth }, () => budget)
  })
}

/** Least possible memory of the largest of `depth` stages, by dynamic programming over cuts. */
function evenCut(profile: ModelProfile, depth: number): Bytes {
  const count = profile.layers.length
  const cost = createCostModel({ peers: [], links: [], defaultLatencySeconds: 0 }, profile)
  const memory = (from: number, to: number) => cost.memoryBytes([from, to])
  let least = Array.from({ length: count + 1 }, (_, to) => (to === 0 ? Infinity : memory(0, to)))
  for (let stages = 2; stages <= depth; stages++) {
    const before = least
    least = before.map((_, to) => {
      const cuts = Array.from({ length: to }, (_, cut) => Math.max(before[cut] ?? Infinity, memory(cut, to)))
      return Math.min(Infinity, ...cuts)
    })
  }
  return least[count] ?? Infinity
}
