/**
 * What a training step costs in communication, as Yuan et al. count it: devices form
 * balanced groups, one a stage; inside a group gradients are reduced, between groups activations travel.
 */
import type { Network } from './scenarios.ts'

/** GPT3-XL, 24 layers, 3 a stage; gigabytes of a stage's gradients, and of a macro-batch's activations. */
const gradientGigabytes = (1.3 * 4 * 3) / 24
const activationGigabytes = (2024 * 2048 * 2 * (1.25e5 / 2048)) / 2 ** 30
const bits = 8

/** A partition: groups of equal size, devices by number. */
export type Groups = readonly (readonly number[])[]

export interface Costs {
  /** Seconds of the slowest group's gradient exchange. */
  readonly reduce: number
  /** Seconds of a batch along the best order of stages, there and back. */
  readonly pipeline: number
  readonly total: number
}

export interface CommunicationCost {
  /** Σ of a device's exchanges with its group, of the group's slowest device. */
  reduceOf(group: readonly number[]): number
  /** The least slowest link over all ways to pair two groups, there and back. */
  pairOf(one: readonly number[], other: readonly number[]): number
  of(groups: Groups): Costs
  /** The same when the pair costs are known: at [one · groups + other]. */
  from(reduces: readonly number[], pairs: Float64Array): Costs
  /** One activation over one link, one way. */
  readonly linkSeconds: Float64Array
}

export function createCommunicationCost(network: Network, groupCount: number): CommunicationCost {
  const { devices, delaySeconds, gigabitsPerSecond } = network
  const shardGigabits = (bits * gradientGigabytes) / (devices / groupCount)
  const exchange = delaySeconds.map((delay, at) => 2 * (delay + shardGigabits / (gigabitsPerSecond[at] ?? 1)))
  const link = delaySeconds.map(
    (delay, at) => delay + (bits * activationGigabytes) / (gigabitsPerSecond[at] ?? 1),
  )
  const reduceOf = (group: readonly number[]) => {
    const sums = group.map((d) =>
      group.reduce((sum, other) => (other === d ? sum : sum + (exchange[d * devices + other] ?? 0)), 0),
    )
    return Math.max(...sums)
  }
  const pairOf = (one: readonly number[], other: readonly number[]) =>
    2 * bottleneckMatching(one.map((a) => other.map((b) => link[a * devices + b] ?? 0)))
  const from = (reduces: readonly number[], pairs: Float64Array): Costs => {
    const reduce = Math.max(...reduces)
    const pipeline = shortestPath(pairs, reduces.length)
    return { reduce, pipeline, total: reduce + pipeline }
  }
  return {
    reduceOf,
    pairOf,
    from,
    linkSeconds: link,
    of: (groups) => from(groups.map(reduceOf), pairTable(groups, pairOf)),
  }
}

export function pairTable(groups: Groups, pairOf: CommunicationCost['pairOf']): Float64Array {
  const count = groups.length
  const table = new Float64Array(count * count)
  for (const [a, one] of groups.entries()) {
    for (const [b, other] of groups.entries()) {
      if (a >= b) continue
      table[a * count + b] = table[b * count + a] = pairOf(one, other)
    }
  }
  return table
}

/** The least possible largest weight of a perfect matching; `weights` is square. */
export function bottleneckMatching(weights: readonly (readonly number[])[]): number {
  const levels = [...new Set(weights.flat())].sort((a, b) => a - b)
  let low = 0
  let high = levels.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (hasPerfectMatching(weights, levels[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return levels[low] ?? 0
}

/** Kuhn's augmenting paths over the links of at most `most`. */
function hasPerfectMatching(weights: readonly (readonly number[])[], most: number): boolean {
  const partner = new Int32Array(weights.length).fill(-1)
  const augment = (row: number, seen: Uint8Array): boolean =>
    (weights[row] ?? []).some((weight, column) => {
      if (weight > most || seen[column] === 1) return false
      seen[column] = 1
      const taken = partner[column] ?? -1
      if (taken >= 0 && !augment(taken, seen)) return false
      partner[column] = row
      return true
    })
  return weights.every((_, row) => augment(row, new Uint8Array(weights.length)))
}

/** The shortest open path through all places (Held and Karp). @param weights - at [a · count + b] */
export function shortestPath(weights: Float64Array, count: number): number {
  const best = new Float64Array(2 ** count * count).fill(Infinity)
  for (let place = 0; place < count; place++) best[(1 << place) * count + place] = 0
  for (let set = 1; set < 2 ** count; set++) {
    for (let last = 0; last < count; last++) {
      const so = best[set * count + last] ?? Infinity
      for (let next = 0; next < count; next++) {
        if ((set & (1 << next)) !== 0) continue
        const cell = (set | (1 << next)) * count + next
        const length = so + (weights[last * count + next] ?? 0)
        best[cell] = Math.min(length, best[cell] ?? Infinity)
      }
    }
  }
  return best.subarray((2 ** count - 1) * count).reduce((least, length) => Math.min(least, length), Infinity)
}
