/** Clusters by the reference's genetic search beside our planner's: can each hold the model, and how even and fast are they? */
import { planFigures } from '../../../main/core/planner/plan-figures.ts'
import { planPool } from '../../../main/core/planner/plan-pool.ts'
import { createCostModel } from '../../../main/core/planner/cost.ts'
import { createCutter } from '../../../main/core/planner/search/cuts.ts'
import { DoesNotFitError } from '../../../shared/errors.ts'
import type { Layout } from '../../../shared/plan/plan.ts'
import type { ModelProfile, Pool } from '../../../shared/plan/pool.ts'
import { createRng, type Rng } from '../../../shared/random.ts'
import type { Reproduction, Row } from '../table.ts'
import { fitnessOf, referenceSearch, type Clusters } from './fitness.ts'

const layerCount = 24
const pools = 5
const peers = 20
export const clusterCount = 4

/** BERT-base's size: 24 even layers, 440 MB of parameters. */
export const profile: ModelProfile = {
  name: 'even-24',
  layers: Array.from({ length: layerCount }, (_, index) => ({
    name: `layer-${index}`,
    parameterBytes: 440e6 / layerCount,
    activationBytesPerSample: 1.5e6,
    workingBytesPerSample: 6e6,
    flopsPerSample: 1e9,
  })),
  stateFactor: 5,
  ...{ microBatch: 4, inFlight: 4, accumulate: 4, averageEveryUpdates: 20, backwardFactor: 3, codec: 'fp32' },
}

const between = (rng: Rng, low: number, high: number) => low * (high / low) ** rng.next()

export function poolOf(seed: number): Pool {
  const rng = createRng(seed)
  return {
    peers: Array.from({ length: peers }, (_, index) => ({
      id: `pc-${index}`,
      memoryBytes: Math.round(between(rng, 0.5e9, 4e9)),
      flopsPerSecond: between(rng, 2e10, 3e11),
      uploadBytesPerSecond: between(rng, 2e6, 3e7),
      downloadBytesPerSecond: between(rng, 1e7, 1e8),
    })),
    links: [],
    defaultLatencySeconds: 0.02,
  }
}

export const modelBytes = createCostModel(poolOf(0), profile).memoryBytes([0, layerCount])

/** The reference's clusters with our cuts, in the order of the peers' numbers; those that cannot hold the model are left out. */
export function cutReference(pool: Pool, assigned: Clusters): Pick<Layout, 'clusters' | 'samplesPerSecond'> {
  const cutter = createCutter(
    createCostModel(pool, profile),
    Array.from({ length: layerCount + 1 }, (_, place) => place),
  )
  const clusters = Array.from({ length: clusterCount }, (_, cluster) =>
    [...assigned.keys()].filter((peer) => assigned[peer] === cluster),
  ).flatMap((members) => {
    const cut = cutter.best(members, Infinity)
    return cut === undefined
      ? []
      : [cut.stages.map(({ peer, layers }) => ({ peer: pool.peers[peer]?.id ?? '', layers }))]
  })
  return clusters.length === 0 ? { clusters: [], samplesPerSecond: 0 } : planFigures(pool, profile, clusters)
}

export function ourPlan(pool: Pool): Layout {
  const plan = planPool({ pool, profile, seed: 1, clusters: clusterCount })
  if ('feasible' in plan) throw new DoesNotFitError(plan.shortfallBytes, plan.reason)
  return plan
}

/** Slowest cluster over fastest: 1 is even. */
export function balanceOf({ clusters }: Pick<Layout, 'clusters'>): number {
  const rates = clusters.map(({ samplesPerSecond }) => samplesPerSecond)
  return rates.length < clusterCount ? 0 : Math.min(...rates) / Math.max(...rates)
}

function rowsOf(seed: number): Row[] {
  const pool = poolOf(seed)
  const settings = { modelBytes, clusters: clusterCount }
  const assigned = referenceSearch(pool, settings, createRng(seed))
  const { missingBytes } = fitnessOf(pool, assigned, settings)
  const [reference, ours] = [cutReference(pool, assigned), ourPlan(pool)]
  const name = `pool ${seed}:`
  return [
    { what: `${name} memory that its clusters lack, GB`, published: missingBytes / 1e9, ours: 0 },
    {
      what: `${name} clusters that hold the model`,
      published: reference.clusters.length,
      ours: ours.clusters.length,
    },
    {
      what: `${name} slowest over fastest cluster`,
      published: balanceOf(reference),
      ours: balanceOf(ours),
    },
    {
      what: `${name} samples a second`,
      published: reference.samplesPerSecond,
      ours: ours.samplesPerSecond,
    },
  ]
}

export function reproduceClusters(): Promise<Reproduction> {
  return Promise.resolve({
    title: `${clusterCount} clusters of ${peers} PCs for a model of 440 MB of parameters`,
    source: 'Menon, Menon, Ahirwar 2024, Ravnest, arXiv 2401.01728, section 3.5.2',
    rows: Array.from({ length: pools }, (_, index) => rowsOf(index + 1)).flat(),
    notes: [
      'The column "published" is the reference’s search, by its rules, on the same pools; its clusters are cut by our planner.',
      'Its fitness counts memory and memory over bandwidth: it sees neither processors nor how a cluster is cut.',
    ],
  })
}
