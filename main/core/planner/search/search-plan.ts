/** The search for the best plan of a pool: exhaustive where that is quick, genetic beyond. */
import type { Rng } from '../../../../shared/random.ts'
import { type CostModel, smallestLayerBytes, type Stage } from '../cost.ts'
import type { Shortfall } from '../shortfall.ts'
import { createCandidates } from './candidates.ts'
import { createCutter, mostCutPlaces } from './cuts.ts'
import { mostPeersExhaustive, searchExhaustively } from './exhaustive.ts'
import { firstGroupings } from './first-groupings.ts'
import { searchGroupings } from './genetic.ts'
import { polish } from './polish.ts'
import { compareScores, createScorer, type Score } from './score.ts'

export interface PlanSearch {
  readonly cost: CostModel
  /** Peers that may sit in pipelines and rings, by place in the pool. */
  readonly linked: readonly number[]
  /** Peers that could only train alone. */
  readonly solitary: readonly number[]
  /** Of the linked peers. When nothing is missing, its stages are one cluster that fits. */
  readonly shortfall: Shortfall
  readonly rng: Rng
  readonly wanted: number | undefined
}

/** Under a second of one core for the largest pools, a tenth for seven peers. */
const stepsPerPeer = 1_000_000
const mostSteps = 45_000_000

/** Stages of the best clusters; empty when no cluster can train. */
export function searchPlan(search: PlanSearch): readonly (readonly Stage[])[] {
  const { cost, linked, solitary, shortfall, rng, wanted } = search
  const cutter = createCutter(cost, cutPlaces(cost, shortfall.stages))
  const candidates = createCandidates(cost, cutter)
  const scorer = createScorer(cost, candidates, wanted)
  const smallest = smallestLayerBytes(cost)
  const fits = shortfall.stages.length > 0 && shortfall.missingBytes === 0
  const everyone = fits ? linked.filter((peer) => (cost.pool.peers[peer]?.memoryBytes ?? 0) >= smallest) : []

  function searchLinked(): Score {
    if (everyone.length <= mostPeersExhaustive) return searchExhaustively(everyone, candidates, scorer).best
    const witness = [candidates.of(shortfall.stages.map((stage) => stage.peer))]
    const first = [witness, ...firstGroupings({ cost, candidates, everyone })]
    const budget = Math.min(mostSteps, stepsPerPeer * everyone.length)
    const steps = () => cutter.steps() + scorer.steps()
    return searchGroupings({ everyone, candidates, scorer, first, rng, steps, mostSteps: budget }).best
  }

  let best = searchLinked()
  for (const peer of solitary) {
    const alone = scorer.score([candidates.of([peer])])
    if (compareScores(alone, best) < 0) best = alone
  }
  return polish(best.clusters, cost, scorer).map((cluster) => cluster.stages)
}

/** Where cuts may fall: before every layer, or for deep models at even steps, and where `stages` are cut. */
function cutPlaces(cost: CostModel, stages: readonly Stage[]): number[] {
  const layers = cost.profile.layers.length
  if (layers <= mostCutPlaces) return Array.from({ length: layers + 1 }, (_, place) => place)
  const places = new Set([0, layers, ...stages.map((stage) => stage.layers[1])])
  const share = (place: number) =>
    cost.memoryBytes([0, place]) / cost.memoryBytes([0, layers]) +
    (cost.sums.f[place] ?? 0) / (cost.sums.f[layers] ?? 1)
  let next = 1
  for (let place = 1; place < layers; place++) {
    if (share(place) < (2 * next) / mostCutPlaces) continue
    places.add(place)
    while (share(place) >= (2 * next) / mostCutPlaces) next++
  }
  return [...places].sort((a, b) => a - b)
}
