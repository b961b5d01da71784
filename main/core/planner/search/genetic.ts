/**
 * Seeded, elitist genetic search over who forms which cluster in which order. Cuts are not searched: `cuts.ts`
 * finds the best ones for every order, so a gene is only a peer's place.
 */
import { nextInt } from '../../../../shared/random.ts'
import { closeness } from './cuts.ts'
import { compareScores, type Score, type Scorer } from './score.ts'
import { cross, type Grouping, mutate, type VariationGround } from './variation.ts'

export interface SearchGround extends VariationGround {
  readonly scorer: Scorer
  /** Groupings to start from, at least one; the first costs little and always counts. */
  readonly first: readonly Grouping[]
  /** Effort so far, in inner steps of cutting and scoring. */
  readonly steps: () => number
  /** Effort after which the search ends. */
  readonly mostSteps: number
}

/** What the search found, and the effort it took. */
export interface SearchResult {
  readonly best: Score
  /** Groupings judged. */
  readonly scored: number
  readonly steps: number
}

/** Generations without a better plan after which all but the best give way to new founders. */
const patientGenerations = 40
/** Fresh starts without a better plan after which the search ends. */
const patientStarts = 3
/** Lighter cuts in a row that may bring nothing, when a grouping is scored. */
const patience = 6
const tournament = 3
const crossed = 0.2
/** Children that start from their parent's averaging load; the rest look at all loads. */
const likeParent = 0.8

export function searchGroupings(ground: SearchGround): SearchResult {
  const { rng, everyone } = ground
  const size = Math.min(32, 16 + 2 * everyone.length)
  const judge = createJudge(ground)

  function child(population: readonly Score[]): Score {
    const parent = pick(population)
    const grouping =
      rng.next() < crossed ? cross(parent.grouping, pick(population).grouping, ground) : parent.grouping
    const maxLoad = rng.next() < likeParent ? largestLoadOf(parent) * (1 + closeness) : Infinity
    return judge.score(mutate(grouping, ground), maxLoad)
  }

  function pick(population: readonly Score[]): Score {
    const places = Array.from({ length: tournament }, () => nextInt(rng, population.length))
    return population[Math.min(...places)] ?? judge.empty
  }

  /** Generations until nothing better comes for a while. The best of the result is first. */
  function evolve(first: readonly Score[]): Score {
    let population = select(first, size)
    let idle = 0
    while (idle < patientGenerations && !judge.isTired()) {
      const [before] = population
      const children: Score[] = []
      while (children.length < size && !judge.isTired()) children.push(child(population))
      population = select([...population, ...children], size)
      const [best] = population
      idle = best !== undefined && before !== undefined && compareScores(best, before) < 0 ? 0 : idle + 1
    }
    return judge.thoroughly(population[0] ?? judge.empty)
  }

  let best = evolve(ground.first.map((grouping) => judge.score(grouping, Infinity)))
  for (let idle = 0; idle < patientStarts && !judge.isTired();) {
    const fresh = ground.first.map((grouping) =>
      judge.score(mutate(mutate(grouping, ground), ground), Infinity),
    )
    const found = evolve(idle % 2 === 0 ? fresh : [best, ...fresh])
    idle = compareScores(found, best) < 0 ? 0 : idle + 1
    if (compareScores(found, best) < 0) best = found
  }
  return { best, scored: judge.scored(), steps: judge.effort() }
}

/** Scores groupings and knows when enough was scored. */
function createJudge({ scorer, steps, mostSteps, everyone }: SearchGround) {
  const empty = scorer.score([])
  let scored = 0
  // A change costs time even where every cluster was seen before.
  const effort = () => steps() + scored * (100 + 20 * everyone.length)
  return {
    empty,
    scored: () => scored,
    effort,
    /** The better of a score and its grouping's with all cuts looked at. */
    thoroughly(score: Score): Score {
      const exact = scorer.score(score.grouping)
      return compareScores(exact, score) < 0 ? exact : score
    },
    isTired: () => effort() >= mostSteps,
    score(grouping: Grouping, maxLoad: number): Score {
      if (scored > 0 && effort() >= mostSteps) return empty
      scored++
      return scorer.score(grouping, { maxLoad, patience })
    },
  }
}

/** The best, each once: copies of the best would crowd out everything else. */
function select(individuals: readonly Score[], size: number): Score[] {
  const unlike = new Map<number, Score>()
  for (const individual of individuals) {
    // Clusters have no order: a sum of mixed numbers is the same however they stand.
    const key = individual.grouping.reduce((sum, { number }) => sum + mixed(number), 0)
    const known = unlike.get(key)
    if (known === undefined || compareScores(individual, known) < 0) unlike.set(key, individual)
  }
  return [...unlike.values()].sort(compareScores).slice(0, size)
}

function mixed(number: number): number {
  return Math.imul(number + 1, 0x9e3779b1) >>> 0
}

function largestLoadOf({ clusters }: Score): number {
  return clusters.reduce((largest, cluster) => Math.max(largest, cluster.averagingLoad), 0)
}
