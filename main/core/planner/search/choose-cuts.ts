/** Which cuts of each cluster, and which clusters at all, when averaging waits for the slowest peer of the pool. */
import { type CostModel, effectiveRate } from '../cost.ts'
import type { Candidate, Candidates } from './candidates.ts'
import { closeness, type CutCluster } from './cuts.ts'

/** A cluster with its figures. */
interface Rated {
  readonly cluster: CutCluster
}

/** A candidate with the cuts chosen for it. */
export interface Pick extends Rated {
  readonly candidate: Candidate
  /** Of its options. */
  readonly index: number
}

/** How hard to look. */
export interface Haste {
  /** Start with cuts of at most this averaging load where a candidate has them; infinity looks at all. */
  readonly maxLoad: number
  /** Stop after so many lighter cuts in a row that brought nothing; infinity is exact. */
  readonly patience: number
}

export interface Choice {
  readonly picks: readonly Pick[]
  /** Of the pool. */
  readonly samplesPerSecond: number
}

export interface Chooser {
  /** The best cuts of these candidates, without the clusters that slow the others more than they give. */
  choose(able: readonly Candidate[], haste: Haste): Choice
  /** The pool's rate with exactly these clusters. */
  rate(clusters: readonly Rated[]): number
  /** Inner steps taken so far, in about the unit of a cutter's. */
  steps(): number
}

/** @param fewest - clusters that are never left out */
export function createChooser(cost: CostModel, candidates: Candidates, fewest: number): Chooser {
  const samples = cost.samplesBetweenAverages
  let steps = 0

  function averaging(picks: readonly Rated[]): number {
    steps += 8 * cost.pool.peers.length
    return cost.averagingSeconds(
      picks.map(({ cluster }) => cluster.stages),
      largestLoad(picks),
    )
  }
  const rate = (picks: readonly Rated[]) => cappedSum(picks, samples, averaging(picks))

  /** Even with the largest latency of the pool, averaging ends in time. */
  function isNeverCapped(picks: readonly Pick[]): boolean {
    const seconds = averagingAt(picks, cost.links.largestLatency)
    return picks.every(({ cluster }) => cluster.samplesPerSecond * seconds <= samples)
  }

  /** Lower the largest load step by step while that may raise the pool's rate. */
  function lightenLoads(first: readonly Pick[], patience: number): Choice {
    const seconds = averaging(first)
    let best = { picks: first, samplesPerSecond: cappedSum(first, samples, seconds) }
    // Meanwhile the rings' latency is taken as it is at first; what looks better is then rated exactly.
    const latency = (seconds - averagingAt(first, 0)) / (2 * (first.length - 1))
    let current = lightened(first, candidates, fewest)
    for (let turns = 0; current !== undefined && turns < patience; turns++) {
      steps += 24 * current.length
      if (sumOfRates(current) <= best.samplesPerSecond * (1 + closeness)) break
      if (cappedSum(current, samples, averagingAt(current, latency)) > best.samplesPerSecond) {
        const samplesPerSecond = rate(current)
        if (samplesPerSecond > best.samplesPerSecond) {
          best = { picks: current, samplesPerSecond }
          turns = 0
        }
      }
      current = lightened(current, candidates, fewest)
    }
    return best
  }

  /** Fewer clusters average quicker: leave out the slowest while that raises the rate. */
  function leaveOutSlow(choice: Choice): Choice {
    let best = choice
    while (best.picks.length > fewest) {
      const picks = best.picks.toSpliced(indexOfSlowest(best.picks), 1)
      const samplesPerSecond = rate(picks)
      if (samplesPerSecond <= best.samplesPerSecond * (1 + closeness)) break
      best = { picks, samplesPerSecond }
    }
    return best
  }

  return {
    rate,
    steps: () => steps,
    choose(able, { maxLoad, patience }) {
      steps += 16 * able.length
      const first = able.flatMap((candidate) => firstPick(candidate, candidates, maxLoad) ?? [])
      if (first.length < 2 || isNeverCapped(first))
        return { picks: first, samplesPerSecond: sumOfRates(first) }
      return leaveOutSlow(lightenLoads(first, patience))
    },
  }
}

/** Lighter cuts for the cluster of the largest averaging load; without it when there are none. */
function lightened(
  picks: readonly Pick[],
  candidates: Candidates,
  fewest: number,
): readonly Pick[] | undefined {
  const heaviest = indexOfHeaviest(picks)
  const pick = picks[heaviest]
  const index = pick === undefined ? 0 : pick.index + 1
  const cluster = pick === undefined ? undefined : candidates.option(pick.candidate, index)
  if (pick !== undefined && cluster !== undefined)
    return picks.with(heaviest, { candidate: pick.candidate, index, cluster })
  return picks.length > fewest ? picks.toSpliced(heaviest, 1) : undefined
}

/** Its fastest cuts within the load, or its lightest ones. */
function firstPick(candidate: Candidate, candidates: Candidates, maxLoad: number): Pick | undefined {
  let pick: Pick | undefined
  for (let index = 0; pick === undefined || pick.cluster.averagingLoad > maxLoad; index++) {
    const cluster = candidates.option(candidate, index)
    if (cluster === undefined) break
    pick = { candidate, index, cluster }
  }
  return pick
}

/** Seconds of a round when its largest latency is known. */
function averagingAt(picks: readonly Rated[], latency: number): number {
  const count = picks.length
  return count < 2 ? 0 : ((2 * (count - 1)) / count) * largestLoad(picks) + 2 * (count - 1) * latency
}

function sumOfRates(picks: readonly Rated[]): number {
  return picks.reduce((sum, { cluster }) => sum + cluster.samplesPerSecond, 0)
}

function cappedSum(picks: readonly Rated[], samples: number, averaging: number): number {
  return picks.reduce(
    (sum, { cluster }) => sum + effectiveRate(cluster.samplesPerSecond, samples, averaging),
    0,
  )
}

function largestLoad(picks: readonly Rated[]): number {
  return picks.reduce((largest, { cluster }) => Math.max(largest, cluster.averagingLoad), 0)
}

function indexOfHeaviest(picks: readonly Rated[]): number {
  let heaviest = 0
  for (const [index, { cluster }] of picks.entries()) {
    if (cluster.averagingLoad > (picks[heaviest]?.cluster.averagingLoad ?? 0)) heaviest = index
  }
  return heaviest
}

function indexOfSlowest(picks: readonly Rated[]): number {
  let slowest = 0
  for (const [index, { cluster }] of picks.entries()) {
    if (cluster.samplesPerSecond < (picks[slowest]?.cluster.samplesPerSecond ?? 0)) slowest = index
  }
  return slowest
}
