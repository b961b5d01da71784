/** Ordered peers as possible clusters, each cut once and remembered. */
import type { CostModel } from '../cost.ts'
import { closeness, type CutCluster, type Cutter } from './cuts.ts'

/** Peers in pipeline order, by place in the pool. */
export interface Candidate {
  readonly order: readonly number[]
  /** Counts up; the same order has the same number while it is remembered. */
  readonly number: number
  /** What its peers lend in all; tells how near it is to holding the model. */
  readonly memoryBytes: number
  /** Its cuts found so far; ends with undefined once there are no more. */
  readonly options: (CutCluster | undefined)[]
}

export interface Candidates {
  of(order: readonly number[]): Candidate
  /**
   * Its cuts by falling rate and falling averaging load: option 0 has the largest rate, each later one the largest
   * among those that average quicker than the one before. Undefined after the last; option 0 when it cannot hold the model.
   */
  option(candidate: Candidate, index: number): CutCluster | undefined
}

/** Beyond so many remembered candidates all are forgotten. */
const mostRemembered = 50_000

export function createCandidates(cost: CostModel, cutter: Cutter): Candidates {
  const remembered = new Map<string, Candidate>()
  const neededBytes = cost.memoryBytes([0, cost.profile.layers.length])
  let made = 0

  function cut({ order, memoryBytes }: Candidate, previous: CutCluster | undefined): CutCluster | undefined {
    if (memoryBytes < neededBytes) return undefined
    const maxLoad = previous === undefined ? Infinity : previous.averagingLoad * (1 - closeness)
    // Loads of 0 and infinity have none below them.
    if (previous !== undefined && !(maxLoad < previous.averagingLoad)) return undefined
    const found = cutter.best(order, maxLoad)
    return found !== undefined && found.samplesPerSecond > 0 ? found : undefined
  }

  return {
    of(order) {
      const key = order.join()
      const known = remembered.get(key)
      if (known !== undefined) return known
      const memoryBytes = order.reduce((sum, peer) => sum + (cost.pool.peers[peer]?.memoryBytes ?? 0), 0)
      const candidate: Candidate = { order, number: made++, memoryBytes, options: [] }
      if (remembered.size >= mostRemembered) remembered.clear()
      remembered.set(key, candidate)
      return candidate
    },
    option(candidate, index) {
      const { options } = candidate
      while (options.length <= index) {
        const previous = options.at(-1)
        options.push(options.length > 0 && previous === undefined ? undefined : cut(candidate, previous))
      }
      return options[index]
    },
  }
}
