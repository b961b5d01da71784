/** Small random changes of a grouping, and children of two groupings. */
import { nextInt, type Rng } from '../../../../shared/random.ts'
import type { Candidate, Candidates } from './candidates.ts'

/** Which peers form clusters, in which order. A peer in none is idle. Peers are places in the pool. */
export type Grouping = readonly Candidate[]

export interface VariationGround {
  readonly everyone: readonly number[]
  readonly candidates: Candidates
  readonly rng: Rng
}

type Order = readonly number[]
type Change = (grouping: Grouping, ground: VariationGround) => Grouping

/** One random change, sometimes several. */
export function mutate(grouping: Grouping, ground: VariationGround): Grouping {
  let changed = grouping
  do changed = choose(changes, ground.rng)?.(changed, ground) ?? changed
  while (ground.rng.next() < 0.4)
  return changed
}

/** Whole clusters of one parent, then those of the other without the peers already taken. */
export function cross(one: Grouping, other: Grouping, ground: VariationGround): Grouping {
  const kept = one.filter(() => ground.rng.next() < 0.5)
  const taken = new Set(kept.flatMap((candidate) => candidate.order))
  const orders = other.map(({ order }) => order.filter((peer) => !taken.has(peer)))
  return replace(kept, [], orders, ground)
}

const changes: readonly Change[] = [move, swap, reorder, merge, split, dissolveOrForm]

/** A peer moves into another cluster, to another place of its own, into a new one, or out. */
function move(grouping: Grouping, ground: VariationGround): Grouping {
  const { rng } = ground
  const peer = choose(ground.everyone, rng)
  if (peer === undefined) return grouping
  const home = grouping.find((candidate) => candidate.order.includes(peer))
  const rest = home === undefined ? [] : without(home.order, peer)
  const place = nextInt(rng, grouping.length + 2)
  const target = grouping[place]
  if (target === undefined) {
    const orders = place === grouping.length ? [rest, [peer]] : [rest]
    return replace(grouping, [home], orders, ground)
  }
  if (target === home) return replace(grouping, [home], [insertSomewhere(rest, peer, rng)], ground)
  return replace(grouping, [home, target], [rest, insertSomewhere(target.order, peer, rng)], ground)
}

/** Two peers of different clusters, or one and an idle one, change places. */
function swap(grouping: Grouping, ground: VariationGround): Grouping {
  const one = choose(grouping, ground.rng)
  if (one === undefined) return grouping
  const outside = ground.everyone.filter((peer) => !one.order.includes(peer))
  const [mine, theirs] = [choose(one.order, ground.rng), choose(outside, ground.rng)]
  if (mine === undefined || theirs === undefined) return grouping
  const other = grouping.find((candidate) => candidate.order.includes(theirs))
  const exchanged = (order: Order, from: number, to: number) =>
    order.map((peer) => (peer === from ? to : peer))
  const orders = [exchanged(one.order, mine, theirs), exchanged(other?.order ?? [], theirs, mine)]
  return replace(grouping, [one, other], orders, ground)
}

/** A peer moves to another place of its pipeline. */
function reorder(grouping: Grouping, ground: VariationGround): Grouping {
  const one = choose(
    grouping.filter((candidate) => candidate.order.length > 1),
    ground.rng,
  )
  const moved = one === undefined ? undefined : choose(one.order, ground.rng)
  if (one === undefined || moved === undefined) return grouping
  return replace(grouping, [one], [insertSomewhere(without(one.order, moved), moved, ground.rng)], ground)
}

function merge(grouping: Grouping, ground: VariationGround): Grouping {
  const [one, other] = [choose(grouping, ground.rng), choose(grouping, ground.rng)]
  if (one === undefined || other === undefined || one === other) return grouping
  return replace(grouping, [one, other], [[...one.order, ...other.order]], ground)
}

function split(grouping: Grouping, ground: VariationGround): Grouping {
  const one = choose(
    grouping.filter((candidate) => candidate.order.length > 1),
    ground.rng,
  )
  if (one === undefined) return grouping
  const at = 1 + nextInt(ground.rng, one.order.length - 1)
  return replace(grouping, [one], [one.order.slice(0, at), one.order.slice(at)], ground)
}

/** A cluster dissolves, or some idle peers form one. */
function dissolveOrForm(grouping: Grouping, ground: VariationGround): Grouping {
  const { rng } = ground
  if (rng.next() < 0.5) return replace(grouping, [choose(grouping, rng)], [], ground)
  const busy = new Set(grouping.flatMap((candidate) => candidate.order))
  const members = ground.everyone.filter((peer) => !busy.has(peer) && rng.next() < 0.5)
  return replace(grouping, [], [members], ground)
}

/** The grouping with some clusters replaced by other orders; empty orders vanish. */
function replace(
  grouping: Grouping,
  gone: readonly (Candidate | undefined)[],
  orders: readonly Order[],
  { candidates }: VariationGround,
): Grouping {
  const kept = grouping.filter((candidate) => !gone.includes(candidate))
  return [...kept, ...orders.filter((order) => order.length > 0).map((order) => candidates.of(order))]
}

function choose<T>(items: readonly T[], rng: Rng): T | undefined {
  return items[nextInt(rng, items.length)]
}

function without(order: Order, peer: number): Order {
  return order.filter((member) => member !== peer)
}

function insertSomewhere(order: Order, peer: number, rng: Rng): Order {
  return order.toSpliced(nextInt(rng, order.length + 1), 0, peer)
}
