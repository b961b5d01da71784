/**
 * The runtime model of "From promise to practice" (ICLR 2025, arXiv 2410.11998): an iteration of N workers whose
 * gradients are exchanged in b buckets, by all-reduce or with some others each, computing meanwhile.
 *
 * Times are shares of one worker's forward pass on the whole batch: forward b/N, backward 2/N a bucket, γ an all-reduce of
 * a bucket, ω what a decentralised round takes of that, u an update of a bucket. The paper's text leaves two readings
 * of b and u; this is the one that gives all of its consequences.
 */
import { drawFactor, type Stragglers } from '../../../main/simulation/stragglers.ts'
import { createRng } from '../../../shared/random.ts'

export interface Setting {
  /** b */
  readonly buckets: number
  /** N */
  readonly workers: number
  /** γ */
  readonly allReduce: number
  /** u */
  readonly update: number
}

/** Seconds of an iteration whose workers compute all alike. */
export function allReduceTime({ buckets: b, workers: N, allReduce: γ, update: u }: Setting): number {
  return γ <= 2 / N ? b * (3 / N + u) + γ : (b + 2) / N + b * (γ + u)
}

/** The same where a worker waits for its own exchange of the iteration before. @param share - ω */
export function decentralisedTime(setting: Setting, share: number): number {
  const { buckets, workers, allReduce, update } = setting
  return buckets * Math.max(3 / workers + update, share * allReduce)
}

/** The most that ω may be so that exchanges are hidden. */
export function hiddenShare({ workers, allReduce, update }: Setting): number {
  return (3 / workers + update) / allReduce
}

export interface Chance {
  readonly stragglers: Stragglers
  readonly seed: number
}

/** Pipelines of exchanges are full by then. */
const warmUp = 20
const measured = 400

/** Mean seconds of an iteration: each begins when every worker has updated every bucket. */
export function simulateAllReduce(setting: Setting, { stragglers, seed }: Chance): number {
  const { buckets, workers, allReduce, update } = setting
  const rng = createRng(seed)
  let total = 0
  for (let iteration = 0; iteration < measured; iteration++) {
    const pace = Array.from({ length: workers }, () => ({
      forward: (drawFactor(stragglers, rng) * buckets) / workers,
      backward: (drawFactor(stragglers, rng) * 2) / workers,
    }))
    let free = 0
    for (let bucket = 1; bucket <= buckets; bucket++) {
      const ready = Math.max(...pace.map(({ forward, backward }) => forward + bucket * backward))
      free = Math.max(ready, free) + allReduce
    }
    total += free + buckets * update
  }
  return total / measured
}

/** Who exchanges with whom in a round: disjoint groups of all workers. */
export type Groups = (round: number) => readonly (readonly number[])[]

const range = (length: number) => Array.from({ length }, (_, index) => index)

/** All of them; pairs at a distance of 2^r; pairs of neighbours, left and right in turn. `workers` is a power of two. */
export const topologies: Readonly<Record<'complete' | 'exponential' | 'ring', (workers: number) => Groups>> =
  {
    complete: (workers) => () => [range(workers)],
    exponential: (workers) => (round) => {
      const bit = 2 ** (round % Math.log2(workers))
      return range(workers).flatMap((one) => ((one & bit) === 0 ? [[one, one ^ bit]] : []))
    },
    ring: (workers) => (round) =>
      range(workers / 2).map((pair) => [2 * pair + (round % 2), (2 * pair + (round % 2) + 1) % workers]),
  }

/**
 * Mean seconds of an iteration without a barrier: after a bucket's backward pass a worker waits for its own exchange of
 * that bucket, updates, and asks for the next; a group's exchange starts when all of it asked and have no other going on.
 *
 * @param share - ω
 */
export function simulateDecentralised(
  setting: Setting,
  { groups, share }: { groups: Groups; share: number },
  { stragglers, seed }: Chance,
): number {
  const state = new Lanes(setting, share)
  const rng = createRng(seed)
  let begun = 0
  for (let iteration = 0; iteration < warmUp + measured; iteration++) {
    if (iteration === warmUp) begun = state.meanTime()
    state.forward(() => drawFactor(stragglers, rng))
    for (let bucket = 0; bucket < setting.buckets; bucket++) {
      state.backward(bucket)
      for (const group of groups(iteration)) state.exchange(bucket, group)
    }
  }
  return (state.meanTime() - begun) / measured
}

/** What each worker computes, and the exchanges that each has going on, one at a time. */
class Lanes {
  readonly #setting: Setting
  readonly #share: number
  readonly #now: Float64Array
  /** Seconds of a bucket's backward pass in this iteration. */
  readonly #pace: Float64Array
  readonly #free: Float64Array
  /** When the last exchange of a worker's bucket was done. */
  readonly #done: Float64Array

  constructor(setting: Setting, share: number) {
    const { workers, buckets } = setting
    this.#setting = setting
    this.#share = share
    this.#now = new Float64Array(workers)
    this.#pace = new Float64Array(workers)
    this.#free = new Float64Array(workers)
    this.#done = new Float64Array(workers * buckets)
  }

  meanTime(): number {
    return this.#now.reduce((sum, each) => sum + each, 0) / this.#setting.workers
  }

  forward(factor: () => number): void {
    const { workers, buckets } = this.#setting
    for (let worker = 0; worker < workers; worker++) {
      this.#now[worker] = (this.#now[worker] ?? 0) + (factor() * buckets) / workers
      this.#pace[worker] = (factor() * 2) / workers
    }
  }

  /** And the update, once the worker's exchange of the bucket is done. */
  backward(bucket: number): void {
    const { workers, buckets, update } = this.#setting
    for (let worker = 0; worker < workers; worker++) {
      const computed = (this.#now[worker] ?? 0) + (this.#pace[worker] ?? 0)
      this.#now[worker] = Math.max(computed, this.#done[worker * buckets + bucket] ?? 0) + update
    }
  }

  exchange(bucket: number, group: readonly number[]): void {
    const { buckets, allReduce } = this.#setting
    const starts = group.map((worker) => Math.max(this.#now[worker] ?? 0, this.#free[worker] ?? 0))
    const end = Math.max(...starts) + this.#share * allReduce
    for (const worker of group) this.#free[worker] = this.#done[worker * buckets + bucket] = end
  }
}
