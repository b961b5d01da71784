/**
 * Local search at a falling temperature: single peers move, swap, come in and go out. Only the clusters that a move
 * touches are cut again, and no more exactly than it takes to judge it, so a thousand peers are improved in seconds.
 */
import type { CostModel } from '../cost.ts'
import type { Cutter } from './cuts.ts'
import { type Move, type MoveGround, type Order, proposeMove, type Team } from './moves.ts'
import { capOf, createTeamRates, type RoundCost } from './teams.ts'

export interface AnnealGround extends MoveGround {
  readonly cost: CostModel
  readonly cutter: Cutter
}

/** Clusters whose cuts keep to a load. */
export interface LoadedTeams {
  readonly orders: readonly Order[]
  readonly maxLoad: number
}

export interface AnnealSettings {
  /** Effort, in inner steps of the cutter. */
  readonly mostSteps: number
  /** Losses that are accepted at the beginning, as a part of a cluster's mean rate. */
  readonly warmth: number
  /** Of a round of these clusters. */
  readonly round: RoundCost
}

/** A try costs about so many steps of the cutter, besides those that it takes. */
const stepsPerTry = 100
/** How much strength that nobody uses yet counts beside used one: it leads over plateaus. */
const reserve = 0.01
/** Rates are sought so far beyond what averaging leaves a cluster; fewer clusters may use them. */
const margin = 1.5
/** With fewer clusters each one less changes what averaging leaves by more than the margin. */
const fewClusters = 6
/** A positive rate below all real ones. */
const tiny = 1e-12

/** The best grouping that was seen, by what the round was said to cost. */
export function anneal(ground: AnnealGround, start: LoadedTeams, settings: AnnealSettings): LoadedTeams {
  const { cost, rng, cutter } = ground
  const { round, mostSteps, warmth } = settings
  const few = start.orders.length < fewClusters
  const enough = few ? Infinity : margin * capOf(cost, start.orders.length, round)
  const rates = createTeamRates(cost, cutter, { maxLoad: start.maxLoad, enough })
  const crowd = createCrowd(cost, round)
  for (const order of start.orders) {
    const samplesPerSecond = rates.of(order, tiny)
    if (samplesPerSecond !== undefined) crowd.change([], [{ order, samplesPerSecond }])
  }
  let now = crowd.value()
  let best = { value: now, teams: crowd.teams }
  const judge = createJudge(crowd, rates)
  const begun = cutter.steps()
  for (let tries = 1; crowd.teams.length > 0; tries++) {
    const spent = (cutter.steps() - begun + tries * stepsPerTry) / mostSteps
    if (spent >= 1) break
    const move = proposeMove(crowd, ground)
    if (move === undefined) continue
    const temperature = (warmth * (1 - spent) ** 2 * now) / crowd.teams.length
    const made = judge(move, now + temperature * Math.log(1 - rng.next()))
    if (made === undefined) continue
    crowd.change(move.gone, made)
    now = crowd.value()
    if (now > best.value) best = { value: now, teams: crowd.teams }
  }
  return { orders: best.teams.map(({ order }) => order), maxLoad: start.maxLoad }
}

interface RatedCrowd {
  readonly teams: readonly Team[]
  readonly teamOf: ReadonlyMap<number, Team>
  readonly cap: number
  /** Of all teams, with the cap of their number. */
  value(): number
  /** Without some teams, as if there were so many in all. */
  valueWithout(gone: readonly Team[], clusters: number): number
  /** Of one rate among so many clusters. */
  worth(samplesPerSecond: number, clusters: number): number
  change(gone: readonly Team[], made: readonly Team[]): void
}

function createCrowd(cost: CostModel, round: RoundCost): RatedCrowd {
  const teamOf = new Map<number, Team>()
  let teams: readonly Team[] = []
  const caps: number[] = []
  const capAt = (clusters: number) => (caps[clusters] ??= capOf(cost, clusters, round))
  const worth = (rate: number, clusters: number) => {
    const cap = capAt(clusters)
    return Math.min(rate, cap) + reserve * Math.min(rate, margin * cap)
  }
  const sum = (list: readonly Team[], clusters: number) =>
    list.reduce((total, team) => total + worth(team.samplesPerSecond, clusters), 0)
  let value = 0
  return {
    get teams() {
      return teams
    },
    teamOf,
    get cap() {
      return capAt(teams.length)
    },
    value: () => value,
    valueWithout(gone, clusters) {
      if (clusters === teams.length) return value - sum(gone, clusters)
      return sum(
        teams.filter((team) => !gone.includes(team)),
        clusters,
      )
    },
    worth,
    change(gone, made) {
      for (const { order } of gone) for (const peer of order) teamOf.delete(peer)
      for (const team of made) for (const peer of team.order) teamOf.set(peer, team)
      teams = [...teams.filter((team) => !gone.includes(team)), ...made]
      value = sum(teams, teams.length)
    },
  }
}

/** The teams that a move makes, or undefined when the pool would be worth less than asked for. */
function createJudge(crowd: RatedCrowd, rates: ReturnType<typeof createTeamRates>) {
  return ({ gone, made }: Move, asked: number): Team[] | undefined => {
    const clusters = crowd.teams.length - gone.length + made.length
    if (clusters === 0) return undefined
    let hoped = made.reduce(
      (sum, order) => sum + crowd.worth(rates.bound(order), clusters),
      crowd.valueWithout(gone, clusters),
    )
    const teams: Team[] = []
    for (const order of made) {
      if (hoped < asked) return undefined
      const most = crowd.worth(rates.bound(order), clusters)
      // A worth is at most so much more than its rate.
      const least = Math.max(tiny, (asked - (hoped - most)) / (1 + reserve))
      const samplesPerSecond = rates.of(order, least)
      if (samplesPerSecond === undefined) return undefined
      teams.push({ order, samplesPerSecond })
      hoped += crowd.worth(samplesPerSecond, clusters) - most
    }
    return hoped < asked ? undefined : teams
  }
}
