/** The search for the best plan of a pool: exhaustive where that is quick, beyond by generations, then on islands. */
import type { Rng } from '../../../../shared/random.ts'
import { type CostModel, smallestLayerBytes, type Stage } from '../cost.ts'
import type { Shortfall } from '../shortfall.ts'
import type { LoadedTeams } from './anneal.ts'
import { bordersOf } from './borders.ts'
import { type Candidates, createCandidates } from './candidates.ts'
import { createCutter, type CutCluster, mostCutPlaces } from './cuts.ts'
import { mostPeersExhaustive, searchExhaustively } from './exhaustive.ts'
import { firstGroupings } from './first-groupings.ts'
import { founders } from './founders.ts'
import { searchGroupings } from './genetic.ts'
import { searchIslands } from './islands.ts'
import { polish } from './polish.ts'
import { prune } from './prune.ts'
import { compareScores, createScorer, type Score, type Scorer } from './score.ts'

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

/** Of the generations: under half a second of one core. */
const generationSteps = 400_000
const mostGenerationSteps = 8_000_000
/** Pools beyond are searched on islands alone: generations judge whole groupings. */
const mostPeersBred = 128
/** Of the islands: half a second for 64 peers, some seconds for a thousand. */
const islandSteps = 400_000
const mostIslandSteps = 50_000_000

/** Stages of the best clusters; empty when no cluster can train. */
export function searchPlan(search: PlanSearch): readonly (readonly Stage[])[] {
  const { cost, linked, solitary, shortfall, rng, wanted } = search
  const cutter = createCutter(cost, cutPlaces(cost, shortfall.stages))
  const candidates = createCandidates(cost, cutter)
  const scorer = createScorer(cost, candidates, wanted)
  const smallest = smallestLayerBytes(cost)
  const fits = shortfall.stages.length > 0 && shortfall.missingBytes === 0
  const everyone = fits ? linked.filter((peer) => (cost.pool.peers[peer]?.memoryBytes ?? 0) >= smallest) : []
  const witness = shortfall.stages.map((stage) => stage.peer)

  function breed(): Score {
    const first = [[candidates.of(witness)], ...firstGroupings({ cost, candidates, everyone })]
    const mostSteps = Math.min(mostGenerationSteps, generationSteps * everyone.length)
    const steps = () => cutter.steps() + scorer.steps()
    return searchGroupings({ everyone, candidates, scorer, first, rng, steps, mostSteps }).best
  }

  function settleIslands(bred: Score | undefined): Score {
    const { borders, near } = bordersOf(cost, everyone)
    const rate = (clusters: readonly CutCluster[]) => scorer.rate(clusters)
    const packed = founders(cost, everyone, borders)
    const starts = [bred === undefined ? { orders: [witness], maxLoad: Infinity } : teamsOf(bred), ...packed]
    const mostSteps = Math.min(mostIslandSteps, islandSteps * everyone.length)
    const ground = { cost, cutter, everyone, near, rng, rate, mostSteps }
    return scoreOf(prune(searchIslands(ground, starts), { cutter, rate }), candidates, scorer)
  }

  function searchLinked(): Score {
    if (everyone.length <= mostPeersExhaustive) return searchExhaustively(everyone, candidates, scorer).best
    if (wanted !== undefined) return breed()
    const bred = everyone.length <= mostPeersBred ? breed() : undefined
    const settled = settleIslands(bred)
    return bred !== undefined && compareScores(bred, settled) <= 0 ? bred : settled
  }

  let best = searchLinked()
  for (const peer of solitary) {
    const alone = scorer.score([candidates.of([peer])])
    if (compareScores(alone, best) < 0) best = alone
  }
  return polish(best.clusters, cost, scorer).map((cluster) => cluster.stages)
}

const orderOf = ({ stages }: CutCluster) => stages.map(({ peer }) => peer)

function teamsOf({ clusters }: Score): LoadedTeams {
  const load = clusters.reduce((most, cluster) => Math.max(most, cluster.averagingLoad), 0)
  return { orders: clusters.map(orderOf), maxLoad: clusters.length < 2 ? Infinity : load }
}

function scoreOf(clusters: readonly CutCluster[], candidates: Candidates, scorer: Scorer): Score {
  return {
    clusters,
    grouping: clusters.map((cluster) => candidates.of(orderOf(cluster))),
    samplesPerSecond: scorer.rate(clusters),
    missingClusters: 0,
    promise: 0,
  }
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
