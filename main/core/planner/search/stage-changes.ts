/** Random changes of who holds which layers that leave most stages as they are: what a search for few moves tries. */
import { nextInt, type Rng } from '../../../../shared/random.ts'
import type { CostModel, Stage } from '../cost.ts'
import type { Cutter } from './cuts.ts'
import { type MoveGround, proposeMove, type Team } from './moves.ts'

export type Clusters = readonly (readonly Stage[])[]

export interface ChangeGround extends MoveGround {
  readonly cost: CostModel
  readonly cutter: Cutter
  /** Clusters of the plan in force that are still whole. */
  readonly old: Clusters
}

type Change = (clusters: Clusters, ground: ChangeGround) => Clusters | undefined

/** How often each change is tried, in hundredths. */
const changes: readonly (readonly [Change, number])[] = [
  [moveCut, 36],
  [replacePeer, 26],
  [addPeer, 12],
  [removePeer, 8],
  [bringBack, 6],
  [regroup, 12],
]

/** One random change within every memory budget; undefined where the one drawn makes no sense. */
export function changedOnce(clusters: Clusters, ground: ChangeGround): Clusters | undefined {
  let chance = 100 * ground.rng.next()
  for (const [change, hundredths] of changes) {
    chance -= hundredths
    if (chance >= 0) continue
    const changed = change(clusters, ground)
    return changed === undefined || changed.length === 0 ? undefined : changed
  }
  return undefined
}

export function fits({ peer, layers }: Stage, cost: CostModel): boolean {
  return cost.memoryBytes(layers) <= (cost.pool.peers[peer]?.memoryBytes ?? 0)
}

/** The new stages of one cluster, where they fit. */
function within(
  clusters: Clusters,
  index: number,
  stages: readonly Stage[],
  cost: CostModel,
): Clusters | undefined {
  return stages.every((stage) => fits(stage, cost)) ? clusters.with(index, stages) : undefined
}

interface Spot {
  readonly index: number
  readonly stages: readonly Stage[]
  readonly place: number
  readonly stage: Stage
}

function pickStage(clusters: Clusters, rng: Rng): Spot | undefined {
  const index = nextInt(rng, clusters.length)
  const stages = clusters[index] ?? []
  const place = nextInt(rng, stages.length)
  const stage = stages[place]
  return stage === undefined ? undefined : { index, stages, place, stage }
}

function moveCut(clusters: Clusters, { rng, cost }: ChangeGround): Clusters | undefined {
  const spot = pickStage(clusters, rng)
  const right = spot?.stages[spot.place + 1]
  if (spot === undefined || right === undefined) return undefined
  const [from, to] = [spot.stage.layers[0], right.layers[1]]
  const cut = from + 1 + nextInt(rng, to - from - 1)
  const changed = spot.stages.toSpliced(
    spot.place,
    2,
    { peer: spot.stage.peer, layers: [from, cut] },
    { peer: right.peer, layers: [cut, to] },
  )
  return within(clusters, spot.index, changed, cost)
}

/** Somebody else takes a stage; if that one had a stage, the two change places. */
function replacePeer(clusters: Clusters, { rng, cost, everyone }: ChangeGround): Clusters | undefined {
  const spot = pickStage(clusters, rng)
  const other = everyone[nextInt(rng, everyone.length)]
  if (spot === undefined || other === undefined || other === spot.stage.peer) return undefined
  const swapped = (stage: Stage): Stage => {
    if (stage.peer === spot.stage.peer) return { ...stage, peer: other }
    return stage.peer === other ? { ...stage, peer: spot.stage.peer } : stage
  }
  const isTouched = (stage: Stage) => stage.peer === spot.stage.peer || stage.peer === other
  const touched = clusters.flat().filter(isTouched).map(swapped)
  if (!touched.every((stage) => fits(stage, cost))) return undefined
  return clusters.map((stages) => (stages.some(isTouched) ? stages.map(swapped) : stages))
}

/** Somebody idle takes a part of a stage, from its beginning or its end. */
function addPeer(clusters: Clusters, { rng, cost, everyone }: ChangeGround): Clusters | undefined {
  const spot = pickStage(clusters, rng)
  const other = everyone[nextInt(rng, everyone.length)]
  if (spot === undefined || other === undefined) return undefined
  const [from, to] = spot.stage.layers
  const isBusy = clusters.some((stages) => stages.some(({ peer }) => peer === other))
  if (isBusy || to - from < 2) return undefined
  const cut = from + 1 + nextInt(rng, to - from - 1)
  const peers = rng.next() < 0.5 ? ([other, spot.stage.peer] as const) : ([spot.stage.peer, other] as const)
  const parts: readonly Stage[] = [
    { peer: peers[0], layers: [from, cut] },
    { peer: peers[1], layers: [cut, to] },
  ]
  return within(clusters, spot.index, spot.stages.toSpliced(spot.place, 1, ...parts), cost)
}

/** A neighbour takes a stage's layers, too; a cluster of one stage goes. */
function removePeer(clusters: Clusters, { rng, cost }: ChangeGround): Clusters | undefined {
  const spot = pickStage(clusters, rng)
  if (spot === undefined) return undefined
  if (spot.stages.length === 1) return clusters.toSpliced(spot.index, 1)
  const first = rng.next() < 0.5 ? spot.place - 1 : spot.place
  const [left, right] = [spot.stages[first], spot.stages[first + 1]]
  if (left === undefined || right === undefined) return undefined
  const heir = first === spot.place ? right.peer : left.peer
  const merged: Stage = { peer: heir, layers: [left.layers[0], right.layers[1]] }
  return within(clusters, spot.index, spot.stages.toSpliced(first, 2, merged), cost)
}

/** The peers of an old cluster leave where they are; clusters that lose somebody by it are gone. */
function bringBack(clusters: Clusters, { rng, old }: ChangeGround): Clusters | undefined {
  const stages = old[nextInt(rng, old.length)]
  if (stages === undefined) return undefined
  const peers = new Set(stages.map(({ peer }) => peer))
  return [...clusters.filter((each) => !each.some(({ peer }) => peers.has(peer))), stages]
}

/** Other members, and the quickest cuts for them. */
function regroup(clusters: Clusters, ground: ChangeGround): Clusters | undefined {
  const teams = clusters.map((stages): Team & { readonly stages: readonly Stage[] } => ({
    order: stages.map(({ peer }) => peer),
    samplesPerSecond: 0,
    stages,
  }))
  const teamOf = new Map(teams.flatMap((team) => team.order.map((peer) => [peer, team] as const)))
  const move = proposeMove({ teams, teamOf, cap: Infinity }, ground)
  if (move === undefined) return undefined
  const cuts = move.made.map((order) => ground.cutter.best(order, Infinity)?.stages)
  if (cuts.some((stages) => stages === undefined)) return undefined
  return [
    ...teams.filter((team) => !move.gone.includes(team)).map(({ stages }) => stages),
    ...cuts.flatMap((stages) => (stages === undefined ? [] : [stages])),
  ]
}
