/** Clusters that are quick enough and move the fewest weights: a climb from the plan in force, and one from the best. */
import { createRng, nextInt, type Rng } from '../../../../shared/random.ts'
import type { Bytes } from '../../../../shared/units.ts'
import { type CostModel, effectiveRate, type Stage } from '../cost.ts'
import { bordersOf } from './borders.ts'
import { createCutter, type Cutter } from './cuts.ts'
import { type MoveGround, proposeMove, type Team } from './moves.ts'

export type Clusters = readonly (readonly Stage[])[]

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

/** Changes tried from each start. */
const mostTries = 6000
/** Inner steps of cutting in all, so that large pools end in time. */
const mostSteps = 15_000_000

interface Rated {
  readonly clusters: Clusters
  readonly samplesPerSecond: number
  readonly moved: Bytes
}

export function fewestMoves(search: FewestMoves): Clusters {
  const { cost, before, best, least, exactly, seed } = search
  const rng = createRng(seed)
  const layers = cost.profile.layers.length
  const cutter = createCutter(
    cost,
    Array.from({ length: layers + 1 }, (_, place) => place),
  )
  const movedBy = createMoved(cost, before)
  const rate = (clusters: Clusters): Rated => ({
    clusters,
    samplesPerSecond: rateOf(cost, clusters),
    moved: movedBy(clusters),
  })
  const everyone = [...cost.pool.peers.entries()]
    .filter(([, peer]) => Math.min(peer.memoryBytes, peer.flopsPerSecond) > 0)
    .filter(([, peer]) => Math.min(peer.uploadBytesPerSecond, peer.downloadBytesPerSecond) > 0)
    .map(([place]) => place)
  const near = bordersOf(cost, everyone).near
  const isBetter = (one: Rated, other: Rated) => {
    if (exactly !== undefined && one.clusters.length !== exactly) return false
    const [enough, wasEnough] = [one, other].map(({ samplesPerSecond }) => samplesPerSecond >= least)
    if (enough !== wasEnough) return enough === true
    return enough === true ? one.moved < other.moved : one.samplesPerSecond > other.samplesPerSecond
  }
  const ground = { cost, cutter, rng, everyone, near }
  const climb = (start: Rated): Rated => {
    let now = start
    const begun = cutter.steps()
    for (let turn = 0; turn < mostTries && cutter.steps() - begun < mostSteps; turn++) {
      const changed = change(now.clusters, before, ground)
      const found = changed === undefined ? undefined : rate(changed)
      if (found !== undefined && isBetter(found, now)) now = found
    }
    return now
  }
  const starts = [rate(repaired(before, cost, cutter)), rate(best)].filter(
    ({ clusters }) => clusters.length > 0 && (exactly === undefined || clusters.length === exactly),
  )
  const [first = rate(best), ...others] = starts.map(climb)
  return others.reduce((chosen, other) => (isBetter(other, chosen) ? other : chosen), first).clusters
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

function rateOf(cost: CostModel, clusters: Clusters): number {
  const costs = clusters.map((stages) => cost.clusterCost(stages))
  const load = costs.reduce((most, each) => Math.max(most, each.averagingLoad), 0)
  const seconds = cost.averagingSeconds(clusters, load)
  return costs.reduce(
    (sum, each) => sum + effectiveRate(each.samplesPerSecond, cost.samplesBetweenAverages, seconds),
    0,
  )
}

/** Whole clusters as they are; of those that lost somebody the others take over, where they can. */
function repaired(before: Clusters, cost: CostModel, cutter: Cutter): Clusters {
  const layers = cost.profile.layers.length
  return before.flatMap((stages) => {
    const tiles = stages.every(({ layers: run }, index) => run[0] === (stages[index - 1]?.layers[1] ?? 0))
    const isWhole = tiles && stages.at(-1)?.layers[1] === layers && stages.every((stage) => fits(stage, cost))
    if (isWhole) return [stages]
    const cut = cutter.best(
      stages.map(({ peer }) => peer),
      Infinity,
    )
    return cut === undefined ? [] : [cut.stages]
  })
}

function fits({ peer, layers }: Stage, cost: CostModel): boolean {
  return cost.memoryBytes(layers) <= (cost.pool.peers[peer]?.memoryBytes ?? 0)
}

interface ChangeGround extends MoveGround {
  readonly cost: CostModel
  readonly cutter: Cutter
  readonly rng: Rng
}

/** One cut elsewhere, other members, or a cluster of before again. Undefined where that cannot be. */
function change(clusters: Clusters, before: Clusters, ground: ChangeGround): Clusters | undefined {
  const chance = ground.rng.next()
  if (chance < 0.45) return withMovedCut(clusters, ground)
  if (chance < 0.55) return withOldCluster(clusters, before, ground)
  return withOtherMembers(clusters, ground)
}

function withMovedCut(clusters: Clusters, { rng, cost }: ChangeGround): Clusters | undefined {
  const index = nextInt(rng, clusters.length)
  const stages = clusters[index] ?? []
  const border = nextInt(rng, Math.max(1, stages.length - 1))
  const [left, right] = [stages[border], stages[border + 1]]
  if (left === undefined || right === undefined) return undefined
  const cut = left.layers[0] + 1 + nextInt(rng, right.layers[1] - left.layers[0] - 1)
  const changed = stages
    .with(border, { peer: left.peer, layers: [left.layers[0], cut] })
    .with(border + 1, { peer: right.peer, layers: [cut, right.layers[1]] })
  return changed.every((stage) => fits(stage, cost)) ? clusters.with(index, changed) : undefined
}

/** Its peers leave where they are; clusters that lose somebody by it are gone. */
function withOldCluster(clusters: Clusters, before: Clusters, { rng, cost }: ChangeGround) {
  const old = before[nextInt(rng, before.length)] ?? []
  const isWhole =
    old.length > 0 && old[0]?.layers[0] === 0 && old.at(-1)?.layers[1] === cost.profile.layers.length
  if (!isWhole || old.some((stage, index) => index > 0 && stage.layers[0] !== old[index - 1]?.layers[1]))
    return undefined
  if (!old.every((stage) => fits(stage, cost))) return undefined
  const peers = new Set(old.map(({ peer }) => peer))
  return [...clusters.filter((stages) => !stages.some(({ peer }) => peers.has(peer))), old]
}

function withOtherMembers(clusters: Clusters, ground: ChangeGround): Clusters | undefined {
  const teams = clusters.map((stages): Team & { readonly stages: readonly Stage[] } => ({
    order: stages.map(({ peer }) => peer),
    samplesPerSecond: 0,
    stages,
  }))
  const teamOf = new Map(teams.flatMap((team) => team.order.map((peer) => [peer, team] as const)))
  const move = proposeMove({ teams, teamOf, cap: Infinity }, ground)
  if (move === undefined || teams.length - move.gone.length + move.made.length === 0) return undefined
  const cuts = move.made.map((order) => ground.cutter.best(order, Infinity)?.stages)
  if (cuts.some((stages) => stages === undefined)) return undefined
  return [
    ...teams.filter((team) => !move.gone.includes(team)).map(({ stages }) => stages),
    ...cuts.flatMap((stages) => (stages === undefined ? [] : [stages])),
  ]
}
