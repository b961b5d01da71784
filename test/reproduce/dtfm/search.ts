/**
 * The evolutionary search of Yuan et al. with their local search, from the matrices alone: founders are random
 * groups, and groups over which every neighbourhood of the links is dealt evenly.
 */
import { neighbourhoodsOf, type Way } from '../../../main/core/planner/search/neighbourhoods.ts'
import { createRng, nextInt, permutation, type Rng } from '../../../shared/random.ts'
import { type CommunicationCost, type Costs, createCommunicationCost, type Groups } from './cost.ts'
import type { Network } from './scenarios.ts'

export interface SearchSettings {
  readonly seed: number
  /** Partitions judged, all in all. */
  readonly evaluations: number
  /** False: random founders only, as in the paper. */
  readonly neighbourhoods: boolean
}

export interface Found {
  readonly groups: Groups
  readonly costs: Costs
  readonly evaluations: number
}

/** Stage of each device. */
type Chromosome = Uint8Array

interface Individual {
  readonly stages: Chromosome
  readonly costs: Costs
}

const groupCount = 8
const population = 40
/** Loci that a child takes from its other parent. */
const crossed = 5

export function searchGroups(network: Network, { seed, evaluations, neighbourhoods }: SearchSettings): Found {
  const cost = createCommunicationCost(network, groupCount)
  const rng = createRng(seed)
  let judged = 0
  const judge = (stages: Chromosome): Individual => {
    judged++
    return { stages, costs: cost.of(groupsOf(stages)) }
  }
  const informed = neighbourhoods ? dealtOverGroups(network, cost) : []
  const random = Array.from({ length: population - informed.length }, () =>
    randomStages(network.devices, rng),
  )
  const members = [...informed, ...random].map(judge)
  while (judged < evaluations) {
    const [one, other] = [nextInt(rng, members.length), nextInt(rng, members.length)]
    const [father, mother] = [members[one], members[other]]
    if (father === undefined || mother === undefined) break
    const child = climb(judge(improveByFastLinks(cross(father.stages, mother.stages, rng), cost)), judge, rng)
    const worse = father.costs.total > mother.costs.total ? one : other
    if (child.costs.total <= (members[worse]?.costs.total ?? 0)) members[worse] = child
  }
  const [best = judge(randomStages(network.devices, rng))] = members.toSorted(
    (a, b) => a.costs.total - b.costs.total,
  )
  return { groups: groupsOf(best.stages), costs: best.costs, evaluations: judged }
}

/** Swaps of two devices that do not make it worse, until so many in a row bring nothing. */
function climb(start: Individual, judge: (stages: Chromosome) => Individual, rng: Rng): Individual {
  let best = start
  for (let idle = 0; idle < 12; idle++) {
    const stages = best.stages.slice()
    swap(stages, nextInt(rng, stages.length), nextInt(rng, stages.length))
    const changed = judge(stages)
    if (changed.costs.total < best.costs.total) idle = 0
    if (changed.costs.total <= best.costs.total) best = changed
  }
  return best
}

/**
 * Their local search: an end of a group's fastest link is of more use between two groups than inside one. In a circle
 * of groups, the best exchange of such ends with the next group is made while it gains.
 */
function improveByFastLinks(stages: Chromosome, { linkSeconds }: CommunicationCost): Chromosome {
  const improved = stages.slice()
  const devices = stages.length
  const link = (a: number, b: number) => linkSeconds[a * devices + b] ?? 0
  const meanTo = (device: number, group: readonly number[]) =>
    group.reduce((sum, other) => sum + (other === device ? 0 : link(device, other)), 0) / group.length
  for (let group = 0; group < groupCount; group++) {
    const groups = groupsOf(improved)
    const mine = groups[group] ?? []
    const theirs = groups[(group + 1) % groupCount] ?? []
    const [own, foreign] = [fastestLink(mine, link), fastestLink(theirs, link)]
    const gains = own.flatMap((a) =>
      foreign.map((b) => {
        const partner = own.find((device) => device !== a) ?? a
        const otherPartner = foreign.find((device) => device !== b) ?? b
        const gain = meanTo(a, theirs) - link(a, partner) + meanTo(b, mine) - link(b, otherPartner)
        return { a, b, gain }
      }),
    )
    const [best] = gains.toSorted((one, other) => other.gain - one.gain)
    if (best !== undefined && best.gain > 0) swap(improved, best.a, best.b)
  }
  return improved
}

function fastestLink(group: readonly number[], link: (a: number, b: number) => number): readonly number[] {
  let fastest: readonly number[] = group.slice(0, 2)
  let seconds = Infinity
  for (const [index, a] of group.entries()) {
    for (const b of group.slice(index + 1)) {
      if (link(a, b) >= seconds) continue
      seconds = link(a, b)
      fastest = [a, b]
    }
  }
  return fastest
}

/** One parent with some loci of the other, balanced again. */
function cross(father: Chromosome, mother: Chromosome, rng: Rng): Chromosome {
  const child = mother.slice()
  for (let turn = 0; turn < crossed; turn++) {
    const locus = nextInt(rng, child.length)
    child[locus] = father[locus] ?? 0
  }
  const size = child.length / groupCount
  const sizes = groupsOf(child).map((group) => group.length)
  for (const device of permutation(rng, child.length)) {
    const from = child[device] ?? 0
    const to = sizes.findIndex((count) => count < size)
    if (to < 0) break
    if ((sizes[from] ?? 0) <= size) continue
    child[device] = to
    sizes[from] = (sizes[from] ?? 0) - 1
    sizes[to] = (sizes[to] ?? 0) + 1
  }
  return child
}

function randomStages(devices: number, rng: Rng): Chromosome {
  const order = permutation(rng, devices)
  const stages = new Uint8Array(devices)
  for (const [place, device] of order.entries()) stages[device] = place % groupCount
  return stages
}

/** Neighbourhoods one after the other, dealt over the groups; and each group from as few of them as possible. */
function dealtOverGroups(network: Network, { linkSeconds }: CommunicationCost): Chromosome[] {
  const { devices } = network
  const ways: Way[] = []
  for (let a = 0; a < devices; a++)
    for (let b = a + 1; b < devices; b++) ways.push([a, b, linkSeconds[a * devices + b] ?? 0])
  return neighbourhoodsOf(devices, ways, 3).flatMap((groups) => {
    const order = groups.flat()
    const across = new Uint8Array(devices)
    const within = new Uint8Array(devices)
    for (const [place, device] of order.entries()) {
      across[device] = place % groupCount
      within[device] = Math.floor((place * groupCount) / devices)
    }
    return [across, within]
  })
}

function groupsOf(stages: Chromosome): number[][] {
  const groups = Array.from({ length: groupCount }, (): number[] => [])
  for (const [device, stage] of stages.entries()) groups[stage]?.push(device)
  return groups
}

function swap(stages: Chromosome, a: number, b: number): void {
  const kept = stages[a] ?? 0
  stages[a] = stages[b] ?? 0
  stages[b] = kept
}
