/**
 * Clusters that are quick enough and move the fewest weights: simulated annealing from the plan in force and from the
 * quickest. A plan that is too slow is weighed down by what it lacks, so the search may pass through one.
 */
import { createRng } from '../../../../shared/random.ts'
import type { Bytes } from '../../../../shared/units.ts'
import { shareOfTime } from '../availability.ts'
import { chooseCodecs } from '../codecs.ts'
import { type CostModel, effectiveRate, type Stage } from '../cost.ts'
import { bordersOf } from './borders.ts'
import { closeness, createCutter } from './cuts.ts'
import { repaired, wholeClusters } from './repaired.ts'
import { changedOnce, type ChangeGround, type Clusters } from './stage-changes.ts'

export interface FewestMoves {
  readonly cost: CostModel
  /** Who holds what now, without those that are gone. */
  readonly before: Clusters
  /** The quickest plan; always quick enough. */
  readonly best: Clusters
  /** Samples a second that are enough. */
  readonly least: number
  /** Clusters that there must be; undefined: any number. */
  readonly exactly: number | undefined
  readonly seed: number
}

/** Changes tried from each start in a small pool; and of peers judged in all, so that large pools end in time. */
const mostTries = 12_000
const mostJudged = 3_000_000
/** Inner steps of cutting for each start, to the same end. */
const mostSteps = 10_000_000
/** Of the model's bytes: so much more to move is accepted now and then at the beginning. */
const warmth = 0.15
/** A rate of a hundredth less than enough weighs as much as moving a twentieth of the model. */
const weightOfRate = 5
const weightOfCluster = 10
/** Small pools have few plans, and the search meets each many times; of large ones hardly any comes again. */
const mostRemembered = 20_000

interface Judged {
  readonly clusters: Clusters
  readonly moved: Bytes
  readonly samplesPerSecond: number
  /** What the search makes small, in models' bytes. */
  readonly weight: number
  readonly isEnough: boolean
}

export function fewestMoves(search: FewestMoves): Clusters {
  const { cost, before, best, seed } = search
  const judge = remembered(createJudge(search))
  const whole = wholeClusters(before, cost)
  const inForce = judge(whole)
  // The hysteresis: nothing changes, though a plan with a cluster less might move as little.
  if (whole.length === before.length && inForce.isEnough) return whole
  const everyone = linkedPeers(cost)
  const layers = cost.profile.layers.length
  const cutter = createCutter(
    cost,
    Array.from({ length: layers + 1 }, (_, place) => place),
  )
  const near = bordersOf(cost, everyone).near
  const ground = { cost, cutter, everyone, near, old: whole, rng: createRng(seed) }
  const starts = [repaired(before, ground), whole, best].filter(({ length }) => length > 0).map(judge)
  const found = starts.map((start) => anneal(start, judge, ground))
  return found.reduce((chosen, other) => (isBetter(other, chosen) ? other : chosen), judge(best)).clusters
}

function isBetter(one: Judged, other: Judged): boolean {
  if (one.isEnough !== other.isEnough) return one.isEnough
  if (one.moved !== other.moved) return one.moved < other.moved
  return one.samplesPerSecond > other.samplesPerSecond
}

function anneal(start: Judged, judge: (clusters: Clusters) => Judged, ground: ChangeGround): Judged {
  const { rng, cutter, everyone } = ground
  const tries = Math.min(mostTries, Math.ceil(mostJudged / Math.max(1, everyone.length)))
  const begun = cutter.steps()
  let now = start
  let best = start
  for (let turn = 0; turn < tries; turn++) {
    const spent = Math.max(turn / tries, (cutter.steps() - begun) / mostSteps)
    if (spent >= 1) break
    const changed = changedOnce(now.clusters, ground)
    if (changed === undefined) continue
    const found = judge(changed)
    if (found.weight > now.weight - warmth * (1 - spent) ** 2 * Math.log(1 - rng.next())) continue
    now = found
    if (isBetter(now, best)) best = now
  }
  return best
}

const nameOf = (clusters: Clusters) =>
  clusters
    .map((stages) =>
      stages
        .map(({ peer, layers, recompute = '' }) => `${peer}:${layers[0]}-${layers[1]}${recompute}`)
        .join(),
    )
    .join(';')

/** The same, looked up where a plan was judged before. */
function remembered(judge: (clusters: Clusters) => Judged): (clusters: Clusters) => Judged {
  const known = new Map<string, Judged>()
  return (clusters) => {
    const name = nameOf(clusters)
    const found = known.get(name) ?? judge(clusters)
    if (known.size < mostRemembered) known.set(name, found)
    return found
  }
}

function createJudge({ cost, before, least, exactly }: FewestMoves): (clusters: Clusters) => Judged {
  const movedBy = createMoved(cost, before)
  const whole = Math.max(1, cost.sums.p.at(-1) ?? 0)
  return (clusters) => {
    const moved = movedBy(clusters)
    const samplesPerSecond = rateOf(cost, clusters)
    const tooSlow = Math.max(0, 1 - samplesPerSecond / least)
    const tooMany = exactly === undefined ? 0 : Math.abs(clusters.length - exactly)
    return {
      clusters,
      moved,
      samplesPerSecond,
      weight: moved / whole + weightOfRate * tooSlow + weightOfCluster * tooMany,
      isEnough: tooMany === 0 && tooSlow === 0 && rateAsSent(cost, clusters) >= least * (1 - closeness),
    }
  }
}

/** Bytes of weights on peers that did not hold them before; made for many plans after one. */
export function createMoved(cost: CostModel, before: Clusters): (after: Clusters) => Bytes {
  const { p } = cost.sums
  const held = new Map(before.flat().map(({ peer, layers }) => [peer, layers]))
  const bytes = (from: number, to: number) => (from < to ? (p[to] ?? 0) - (p[from] ?? 0) : 0)
  const fetched = ({ peer, layers: [from, to] }: Stage) => {
    const [heldFrom, heldTo] = held.get(peer) ?? [0, 0]
    return bytes(from, to) - bytes(Math.max(from, heldFrom), Math.min(to, heldTo))
  }
  return (after) => after.flat().reduce((sum, stage) => sum + fetched(stage), 0)
}

function linkedPeers({ pool }: CostModel): number[] {
  return [...pool.peers.entries()]
    .filter(([, peer]) => Math.min(peer.memoryBytes, peer.flopsPerSecond, shareOfTime(peer)) > 0)
    .filter(([, peer]) => Math.min(peer.uploadBytesPerSecond, peer.downloadBytesPerSecond) > 0)
    .map(([place]) => place)
}

function rateOf(cost: CostModel, clusters: Clusters, codecs?: typeof chooseCodecs): number {
  const costs = clusters.map((stages) => cost.clusterCost(stages, codecs?.(cost, stages)))
  const load = costs.reduce((most, each) => Math.max(most, each.averagingLoad), 0)
  const seconds = cost.averagingSeconds(clusters, load)
  return costs.reduce(
    (sum, each) => sum + effectiveRate(each.samplesPerSecond, cost.samplesBetweenAverages, seconds),
    0,
  )
}

/** The rate with the codecs that the borders get: for exactness a plan gives a little of its rate away. */
const rateAsSent = (cost: CostModel, clusters: Clusters) => rateOf(cost, clusters, chooseCodecs)
