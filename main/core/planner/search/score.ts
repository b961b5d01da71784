/** How good a grouping of a pool is, and which of two is better. */
import type { CostModel } from '../cost.ts'
import type { Candidate, Candidates } from './candidates.ts'
import { createChooser, type Haste } from './choose-cuts.ts'
import { closeness, type CutCluster } from './cuts.ts'

/** A grouping with its best cuts. */
export interface Score {
  /** Those that train. */
  readonly clusters: readonly CutCluster[]
  /** Their candidates, and groups that cannot hold the model yet; clusters left out are gone. */
  readonly grouping: readonly Candidate[]
  /** Of the pool: the sum of effective rates. */
  readonly samplesPerSecond: number
  /** Clusters short of the number asked for; 0 when none was. */
  readonly missingClusters: number
  /** Memory of the largest group that cannot hold the model yet: a direction where nothing trains. */
  readonly promise: number
}

const exact: Haste = { maxLoad: Infinity, patience: Infinity }
/** The most clusters that a plan may have. */
const mostClusters = 1024

export interface Scorer {
  score(candidates: readonly Candidate[], haste?: Haste): Score
  /** The pool's rate with exactly these clusters. */
  rate(clusters: readonly CutCluster[]): number
  /** Inner steps taken so far, in about the unit of a cutter's. */
  steps(): number
}

/** @param wanted - exactly so many clusters; undefined: as many as are best */
export function createScorer(cost: CostModel, candidates: Candidates, wanted?: number): Scorer {
  const chooser = createChooser(cost, candidates, wanted ?? 1)
  return {
    steps: () => chooser.steps(),
    rate: (clusters) => chooser.rate(clusters.map((cluster) => ({ cluster }))),
    score(grouping, haste = exact) {
      const able: Candidate[] = []
      const sites: Candidate[] = []
      for (const candidate of grouping)
        (candidates.option(candidate, 0) === undefined ? sites : able).push(candidate)
      const most = wanted ?? mostClusters
      const chosen = chooser.choose(able.length > most ? fastest(able, most, candidates) : able, haste)
      return {
        clusters: chosen.picks.map((pick) => pick.cluster),
        grouping: [...chosen.picks.map((pick) => pick.candidate), ...sites],
        samplesPerSecond: chosen.samplesPerSecond,
        missingClusters: wanted === undefined ? 0 : wanted - chosen.picks.length,
        promise: sites.reduce((largest, site) => Math.max(largest, site.memoryBytes), 0),
      }
    },
  }
}

function fastest(able: readonly Candidate[], most: number, candidates: Candidates): Candidate[] {
  const rateOf = (candidate: Candidate) => candidates.option(candidate, 0)?.samplesPerSecond ?? 0
  return able.toSorted((a, b) => rateOf(b) - rateOf(a)).slice(0, most)
}

/**
 * Negative when `a` is the better plan: more samples a second; among equals fewer stages, then closer balance
 * (clusters of nearer rates, then a less busy busiest resource).
 */
export function compareScores(a: Score, b: Score): number {
  if (a.missingClusters !== b.missingClusters) return a.missingClusters - b.missingClusters
  const difference = compareClosely(b.samplesPerSecond, a.samplesPerSecond)
  if (difference !== 0) return difference
  const stages = stageCount(a) - stageCount(b)
  if (stages !== 0) return stages
  const spread = compareClosely(spreadOf(a), spreadOf(b))
  if (spread !== 0) return spread
  const busiest = compareClosely(busiestOf(a), busiestOf(b))
  return busiest === 0 ? b.promise - a.promise : busiest
}

function compareClosely(a: number, b: number): number {
  return Math.abs(a - b) <= closeness * Math.max(a, b) ? 0 : a - b
}

function stageCount({ clusters }: Score): number {
  return clusters.reduce((sum, cluster) => sum + cluster.stages.length, 0)
}

function spreadOf({ clusters }: Score): number {
  const rates = clusters.map((cluster) => cluster.samplesPerSecond)
  return rates.length === 0 ? 0 : Math.max(...rates) - Math.min(...rates)
}

function busiestOf({ clusters }: Score): number {
  return clusters.reduce((largest, cluster) => Math.max(largest, cluster.busiestSeconds), 0)
}
