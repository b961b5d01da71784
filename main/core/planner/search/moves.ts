/** Random changes of one or two clusters: what a local search tries. */
import { nextInt, type Rng } from '../../../../shared/random.ts'

/** Peers in pipeline order, by place in the pool. */
export type Order = readonly number[]

/** A cluster while its members are sought. */
export interface Team {
  readonly order: Order
  readonly samplesPerSecond: number
}

export interface Move {
  readonly gone: readonly Team[]
  readonly made: readonly Order[]
}

export interface MoveGround {
  readonly rng: Rng
  /** Peers that may form clusters, by place in the pool. */
  readonly everyone: readonly number[]
  /** Peers of the same network, the peer among them. */
  readonly near: (peer: number) => readonly number[]
}

/** The grouping as it is now. */
export interface Crowd {
  readonly teams: readonly Team[]
  /** Absent: idle. */
  readonly teamOf: ReadonlyMap<number, Team>
  /** Samples a second beyond which a team is of no more use. */
  readonly cap: number
}

type Change = (team: Team, crowd: Crowd, ground: MoveGround) => Move | undefined

/** How often each change is tried, in hundredths. */
const changes: readonly (readonly [Change, number])[] = [
  [reorder, 15],
  [exchange, 65],
  [drop, 7],
  [mix, 8],
  [dissolveOrForm, 5],
]

/** One random change; undefined where the one drawn makes no sense. */
export function proposeMove(crowd: Crowd, ground: MoveGround): Move | undefined {
  const team = pickTeam(crowd, ground.rng)
  if (team === undefined) return undefined
  let chance = 100 * ground.rng.next()
  for (const [change, hundredths] of changes) {
    chance -= hundredths
    if (chance < 0) return change(team, crowd, ground)
  }
  return undefined
}

/** Mostly a team that holds the pool back. */
function pickTeam({ teams, cap }: Crowd, rng: Rng): Team | undefined {
  let team = pick(teams, rng)
  for (let turn = 0; turn < 2 && team !== undefined && team.samplesPerSecond >= cap; turn++)
    team = pick(teams, rng)
  return team
}

/** Often of the same network as a member. */
function pickOther(team: Team, { rng, everyone, near }: MoveGround): number | undefined {
  for (let turn = 0; turn < 4; turn++) {
    const member = pick(team.order, rng)
    const other = rng.next() < 0.5 && member !== undefined ? pick(near(member), rng) : pick(everyone, rng)
    if (other !== undefined && !team.order.includes(other)) return other
  }
  return undefined
}

function reorder(team: Team, _crowd: Crowd, { rng }: MoveGround): Move | undefined {
  const moved = pick(team.order, rng)
  if (moved === undefined || team.order.length < 2) return undefined
  return { gone: [team], made: [inserted(without(team.order, moved), moved, rng)] }
}

/** Somebody from outside comes in, or takes a member's place; if that was in a team, the member may go there. */
function exchange(team: Team, { teamOf }: Crowd, ground: MoveGround): Move | undefined {
  const { rng } = ground
  const other = pickOther(team, ground)
  const mine = pick(team.order, rng)
  if (other === undefined || mine === undefined) return undefined
  const home = teamOf.get(other)
  const joined = inserted(team.order, other, rng)
  const replaced = replace(team.order, mine, other)
  if (home === undefined) return { gone: [team], made: [rng.next() < 0.5 ? replaced : joined] }
  if (rng.next() < 0.6) return { gone: [team, home], made: [replaced, replace(home.order, other, mine)] }
  return { gone: [team, home], made: present([joined, without(home.order, other)]) }
}

function drop(team: Team, _crowd: Crowd, { rng }: MoveGround): Move | undefined {
  const mine = pick(team.order, rng)
  return mine === undefined || team.order.length < 2
    ? undefined
    : { gone: [team], made: [without(team.order, mine)] }
}

/** Two teams become one, or exchange their ends. */
function mix(team: Team, { teams }: Crowd, { rng }: MoveGround): Move | undefined {
  const other = pick(teams, rng)
  if (other === undefined || other === team) return undefined
  if (rng.next() < 0.3) return { gone: [team, other], made: [[...team.order, ...other.order]] }
  const [a, b] = [nextInt(rng, team.order.length + 1), nextInt(rng, other.order.length + 1)]
  const one = [...team.order.slice(0, a), ...other.order.slice(b)]
  const two = [...other.order.slice(0, b), ...team.order.slice(a)]
  return { gone: [team, other], made: present([one, two]) }
}

/** A team goes, or some idle peers make one. */
function dissolveOrForm(team: Team, { teamOf }: Crowd, { rng, everyone, near }: MoveGround): Move {
  const leader = pickIdle(everyone, teamOf, rng)
  if (leader === undefined || rng.next() < 0.3) return { gone: [team], made: [] }
  const crew = new Set([leader])
  const around = rng.next() < 0.7 ? near(leader) : everyone
  for (let turn = nextInt(rng, mostFormed); turn > 0; turn--) {
    const member = pickIdle(around, teamOf, rng)
    if (member !== undefined) crew.add(member)
  }
  return { gone: [], made: [[...crew]] }
}

/** Members of a new team beside its first. */
const mostFormed = 6

function pickIdle(peers: readonly number[], teamOf: Crowd['teamOf'], rng: Rng): number | undefined {
  for (let turn = 0; turn < 8; turn++) {
    const peer = pick(peers, rng)
    if (peer !== undefined && !teamOf.has(peer)) return peer
  }
  return undefined
}

function pick<T>(items: readonly T[], rng: Rng): T | undefined {
  return items[nextInt(rng, items.length)]
}

function inserted(order: Order, peer: number, rng: Rng): Order {
  return order.toSpliced(nextInt(rng, order.length + 1), 0, peer)
}

function without(order: Order, peer: number): Order {
  return order.filter((member) => member !== peer)
}

function replace(order: Order, from: number, to: number): Order {
  return order.map((peer) => (peer === from ? to : peer))
}

function present(orders: readonly Order[]): Order[] {
  return orders.filter((order) => order.length > 0)
}
