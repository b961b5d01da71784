/** Planning again with a plan in force: nearly the best rate, with as few weights on the way as possible. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { DoesNotFit, Layout } from '../../../shared/plan/plan.ts'
import type { Bytes } from '../../../shared/units.ts'
import { createCostModel, type Stage } from './cost.ts'
import { layoutOf, planPool, type PlanRequest } from './plan-pool.ts'
import type { Held } from './rings.ts'
import { createMoved, fewestMoves } from './search/fewest-moves.ts'

/** Who held what: the clusters of a plan, by the ids of their peers. */
export type PreviousClusters = readonly (readonly Held<string>[])[]

export interface Replanned {
  readonly layout: Layout
  /** Of weights that somebody holds from now on and did not hold before. */
  readonly movedBytes: Bytes
  /** If everyone fetched its whole stage. */
  readonly fullMoveBytes: Bytes
  /** What a plan made anew would reach. */
  readonly bestSamplesPerSecond: number
}

/**
 * Of the best rate, so much is enough. It is the hysteresis as well: a plan in force that still reaches it stays as
 * it is, with nothing moved.
 */
export const enoughOfBest = 0.95

/**
 * A plan with at least `enoughOfBest` of the best rate and, of those found, the fewest bytes to move.
 *
 * @param previous - peers that are gone from the pool may still be in it
 * @throws InvalidInputError like `planPool`, and for a previous plan of another model
 */
export function replan(request: PlanRequest, previous: PreviousClusters): Replanned | DoesNotFit {
  const { pool, profile, seed, clusters } = request
  checkPrevious(previous, profile.layers.length)
  const anew = planPool(request)
  if ('feasible' in anew) return anew
  const cost = createCostModel(pool, profile)
  const places = new Map(pool.peers.map(({ id }, place) => [id, place]))
  const placed = (plan: PreviousClusters) =>
    plan.map((stages) =>
      stages.flatMap(({ peer, layers: held }): Stage[] => {
        const place = places.get(peer)
        return place === undefined ? [] : [{ peer: place, layers: held }]
      }),
    )
  const before = placed(previous)
  const found = fewestMoves({
    cost,
    before,
    best: placed(anew.clusters.map(({ stages }) => stages)),
    least: enoughOfBest * anew.samplesPerSecond,
    exactly: clusters,
    seed,
  })
  return {
    layout: layoutOf(found, cost, 'the pool would hardly be faster with it, and more weights would move'),
    movedBytes: createMoved(cost, before)(found),
    fullMoveBytes: createMoved(cost, [])(found),
    bestSamplesPerSecond: anew.samplesPerSecond,
  }
}

/** @throws InvalidInputError for what is no plan of a model with so many layers */
function checkPrevious(previous: PreviousClusters, layers: number): void {
  const peers = previous.flatMap((stages) => stages.map(({ peer }) => peer))
  const twice = peers.find((peer, index) => peers.indexOf(peer) < index)
  if (twice !== undefined)
    throw new InvalidInputError(
      `the previous plan has two stages on "${twice}"; give it as rookery plan --json printed it`,
    )
  for (const [index, stages] of previous.entries()) {
    if (stages.at(-1)?.layers[1] !== layers)
      throw new InvalidInputError(
        `the previous plan is not of a model with ${layers} layers; plan without it`,
      )
    if (stages.some(({ layers: [from, to] }, at) => from !== (stages[at - 1]?.layers[1] ?? 0) || to <= from))
      throw new InvalidInputError(
        `cluster ${index + 1} of the previous plan does not hold each layer once; give it as rookery plan --json printed it`,
      )
  }
}
