/**
 * The reference's formation of clusters: a genetic search over who is in which, by memory missing and by balance of
 * what it calls speed (memory over bandwidth). Its rules, from the paper's section 3.5.2 and the released code.
 */
import type { Pool } from '../../../shared/plan/pool.ts'
import { nextInt, type Rng } from '../../../shared/random.ts'

const population = 200
const generations = 500
const tournament = 5
const mutation = 0.01

/** Cluster of each peer. */
export type Clusters = Uint8Array

export interface ReferenceSettings {
  /** L: what a whole copy of the model takes. */
  readonly modelBytes: number
  readonly clusters: number
}

export interface Fitness {
  /** Σ max(0, L − memory): 0 where every cluster can hold the model. */
  readonly missingBytes: number
  /** Of the fastest cluster over the slowest; in the reference's own sense of speed. */
  readonly imbalance: number
  readonly value: number
}

/** 100 · Σ max(0, L − RAM_c) + (max speed_c − min speed_c), in gigabytes and whole seconds, as the reference has it. */
export function fitnessOf(
  pool: Pool,
  assigned: Clusters,
  { modelBytes, clusters }: ReferenceSettings,
): Fitness {
  const memory = new Float64Array(clusters)
  const speed = new Float64Array(clusters)
  for (const [index, { memoryBytes, uploadBytesPerSecond }] of pool.peers.entries()) {
    const cluster = assigned[index] ?? 0
    memory[cluster] = (memory[cluster] ?? 0) + memoryBytes
    speed[cluster] = (speed[cluster] ?? 0) + Math.floor(memoryBytes / uploadBytesPerSecond)
  }
  const missingBytes = memory.reduce((sum, bytes) => sum + Math.max(0, modelBytes - bytes), 0)
  const imbalance = Math.max(...speed) - Math.min(...speed)
  return { missingBytes, imbalance, value: (100 * missingBytes) / 1e9 + imbalance }
}

/** The best of its search. */
export function referenceSearch(pool: Pool, settings: ReferenceSettings, rng: Rng): Clusters {
  const random = (): Clusters => Uint8Array.from(pool.peers, () => nextInt(rng, settings.clusters))
  const judge = (clusters: Clusters) => ({ clusters, value: fitnessOf(pool, clusters, settings).value })
  let members = Array.from({ length: population }, () => judge(random()))
  let best = members[0] ?? judge(random())
  const pick = () =>
    Array.from({ length: tournament }, () => members[nextInt(rng, population)] ?? best).reduce(
      (one, other) => (other.value < one.value ? other : one),
    )
  for (let generation = 0; generation < generations && best.value > 0; generation++) {
    members = members.map(() => {
      const [mother, father] = [pick(), pick()]
      const cut = nextInt(rng, pool.peers.length)
      const child = mother.clusters.map((gene, locus) => {
        if (rng.next() < mutation) return nextInt(rng, settings.clusters)
        return locus < cut ? gene : (father.clusters[locus] ?? 0)
      })
      return judge(child)
    })
    best = members.reduce((one, other) => (other.value < one.value ? other : one), best)
  }
  return best.clusters
}
