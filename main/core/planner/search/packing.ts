/**
 * Groupings for a target: as many clusters as the peers give, each just quick enough and light enough. Where averaging
 * limits every cluster alike, what a cluster could do beyond that is lost, so the strength of the pool is spread
 * (bin covering), inside neighbourhoods first and across them with what is left.
 */
import type { CostModel, Stage } from '../cost.ts'
import type { Neighbourhoods } from './neighbourhoods.ts'
import { createReach, type Reach } from './reach.ts'
import type { Limits } from './shortest-cuts.ts'

/** Which peer comes next: the strongest, or after the strongest the weakest. Either way a good fit ends a cluster. */
export type Filling = 'strong' | 'mixed'

export interface Target extends Limits {
  readonly filling: Filling
}

/** Clusters with every layer on a peer within the limits; who is left over is in none. */
export function pack(cost: CostModel, neighbourhoods: Neighbourhoods, target: Target): Stage[][] {
  const layers = cost.profile.layers.length
  const reach = createReach(cost, target)
  const clusters: Stage[][] = []
  const rest: number[] = []
  const fill = (peers: readonly number[]): readonly number[] => {
    const crew = createCrew(peers, reach)
    const left: number[] = []
    for (let strongest = crew.first(); strongest !== undefined; strongest = crew.first()) {
      // However the layers fall, together they do not hold one model.
      if (crew.freeShare() < 1) break
      const stages = buildCluster(crew, reach, layers, target.filling)
      if (stages.at(-1)?.layers[1] === layers) clusters.push(stages)
      else {
        // The same walk from the next strongest peer may end; this one leads nowhere here.
        crew.giveBack(stages.slice(1).map(({ peer }) => peer))
        left.push(strongest)
        if (left.length > mostDeadEnds) break
      }
    }
    return [...left, ...crew.free()]
  }
  for (const peers of neighbourhoods) rest.push(...fill(peers))
  if (neighbourhoods.length > 1) fill(rest)
  return clusters
}

/** Walks without an end after which nobody else is tried: what is left hardly ever makes a cluster. */
const mostDeadEnds = 8

/** Peers by falling share; those taken are skipped. */
interface Crew {
  first(): number | undefined
  last(): number | undefined
  free(): readonly number[]
  freeShare(): number
  take(peer: number): void
  giveBack(peers: readonly number[]): void
  /** The weakest that are free, weakest first, of a share of at least so much. */
  fromShare(share: number): Iterable<number>
}

function createCrew(peers: readonly number[], reach: Reach): Crew {
  const shares = new Map(peers.map((peer) => [peer, reach.share(peer)]))
  const shareOf = (peer: number) => shares.get(peer) ?? 0
  const sorted = peers.filter((peer) => shareOf(peer) > 0).sort((a, b) => shareOf(b) - shareOf(a) || a - b)
  const places = new Map(sorted.map((peer, place) => [peer, place]))
  const isFree = new Uint8Array(sorted.length).fill(1)
  let sum = sorted.reduce((total, peer) => total + shareOf(peer), 0)
  // Nobody before the one or after the other is free.
  let low = 0
  let high = sorted.length - 1
  return {
    freeShare: () => sum,
    free: () => sorted.filter((_, place) => isFree[place] === 1),
    first() {
      while (low < sorted.length && isFree[low] === 0) low++
      return sorted[low]
    },
    last() {
      while (high >= 0 && isFree[high] === 0) high--
      return sorted[high]
    },
    take(peer) {
      isFree[places.get(peer) ?? -1] = 0
      sum -= shareOf(peer)
    },
    giveBack(given) {
      for (const peer of given) {
        const place = places.get(peer) ?? 0
        isFree[place] = 1
        sum += shareOf(peer)
        low = Math.min(low, place)
        high = Math.max(high, place)
      }
    },
    *fromShare(share) {
      let below = 0
      let above = sorted.length
      while (below < above) {
        const middle = (below + above) >> 1
        if (shareOf(sorted[middle] ?? -1) >= share) below = middle + 1
        else above = middle
      }
      for (let place = below - 1; place >= low; place--) {
        const peer = sorted[place]
        if (peer !== undefined && isFree[place] === 1) yield peer
      }
    },
  }
}

/** Good fits that are tried as the end of a cluster before another peer in between. */
const mostFits = 4

/** From the strongest free peer on; without the last layers when the crew does not suffice. All its peers are taken. */
function buildCluster(crew: Crew, reach: Reach, layers: number, filling: Filling): Stage[] {
  const stages: Stage[] = []
  let from = 0
  let before: number | undefined
  const add = (peer: number, to: number) => {
    stages.push({ peer, layers: [from, to] })
    crew.take(peer)
    from = to
    before = peer
  }
  while (from < layers) {
    const fit = stages.length === 0 ? undefined : fitting(crew, reach, { from, before, layers })
    const next = fit ?? (filling === 'mixed' && stages.length > 0 ? crew.last() : crew.first())
    if (next === undefined) return stages
    const to = reach.end(next, from, before)
    if (to === from) return stages.length === 0 ? taken(next, crew) : stages
    add(next, to)
  }
  return stages
}

/** A peer that does not hold even the first layer: it counts as a cluster that does not end. */
function taken(peer: number, crew: Crew): Stage[] {
  crew.take(peer)
  return [{ peer, layers: [0, 0] }]
}

interface Gap {
  readonly from: number
  readonly before: number | undefined
  readonly layers: number
}

/** The weakest free peer that holds all the rest. */
function fitting(crew: Crew, reach: Reach, { from, before, layers }: Gap): number | undefined {
  // A first guess: layers are about alike. What counts is where the peer really gets.
  let tried = 0
  for (const peer of crew.fromShare((0.7 * (layers - from)) / layers)) {
    if (reach.end(peer, from, before) === layers) return peer
    if (++tried >= mostFits) return undefined
  }
  return undefined
}
