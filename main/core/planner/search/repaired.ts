/** The plan in force without those that are gone: others take over in place, where they can. */
import type { CostModel, Stage } from '../cost.ts'
import type { Cutter } from './cuts.ts'
import { type Clusters, fits } from './stage-changes.ts'

/** Clusters that hold the whole model, everyone within its budget. */
export function wholeClusters(before: Clusters, cost: CostModel): Clusters {
  return before.filter((stages) => isTiled(stages, cost) && stages.every((stage) => fits(stage, cost)))
}

/** Whole clusters as they are; a gap goes to whom it suits best, and where it suits nobody the rest is cut anew. */
export function repaired(
  before: Clusters,
  { cost, cutter, everyone }: { cost: CostModel; cutter: Cutter; everyone: readonly number[] },
): Clusters {
  const whole = wholeClusters(before, cost)
  const busy = new Set(before.flat().map(({ peer }) => peer))
  const idle = new Set(everyone.filter((peer) => !busy.has(peer)))
  const mended = before
    .filter((stages) => !whole.includes(stages))
    .flatMap((stages) => {
      const order = stages.map(({ peer }) => peer)
      const cut = bestOf(fillings(stages, idle, cost), cost) ?? cutter.best(order, Infinity)?.stages
      for (const { peer } of cut ?? []) idle.delete(peer)
      return cut === undefined ? [] : [cut]
    })
  return [...whole, ...mended]
}

function isTiled(stages: readonly Stage[], cost: CostModel): boolean {
  return (
    stages.length > 0 &&
    stages.every(({ layers: run }, index) => run[0] === (stages[index - 1]?.layers[1] ?? 0)) &&
    stages.at(-1)?.layers[1] === cost.profile.layers.length
  )
}

function bestOf(ways: readonly (readonly Stage[])[], cost: CostModel): readonly Stage[] | undefined {
  const rateOf = (stages: readonly Stage[]) => cost.clusterCost(stages).samplesPerSecond
  return ways
    .filter((stages) => isTiled(stages, cost) && stages.every((stage) => fits(stage, cost)))
    .reduce<readonly Stage[] | undefined>(
      (best, way) => (best === undefined || rateOf(way) > rateOf(best) ? way : best),
      undefined,
    )
}

/** Ways to fill the first gap of a cluster: somebody idle, a neighbour, or both neighbours. */
function fillings(
  stages: readonly Stage[],
  idle: ReadonlySet<number>,
  cost: CostModel,
): (readonly Stage[])[] {
  const end = cost.profile.layers.length
  const right = stages.findIndex(({ layers: [from] }, index) => from !== (stages[index - 1]?.layers[1] ?? 0))
  const at = right === -1 ? stages.length : right
  const [from, to] = [stages[at - 1]?.layers[1] ?? 0, stages[at]?.layers[0] ?? end]
  if (stages.length === 0 || from >= to) return []
  const byIdle = [...idle].map((peer) => stages.toSpliced(at, 0, { peer, layers: [from, to] }))
  const byNeighbours = Array.from({ length: to - from + 1 }, (_, index) => {
    const cut = from + index
    return stages.map((stage, place): Stage => {
      if (place === at - 1)
        return { peer: stage.peer, layers: [stage.layers[0], at === stages.length ? to : cut] }
      return place === at ? { peer: stage.peer, layers: [at === 0 ? from : cut, stage.layers[1]] } : stage
    })
  })
  return [...byIdle, ...byNeighbours]
}
