/** All-reduce against decentralised averaging: reference figures beside the closed form and the simulation. */
import type { Stragglers } from '../../../main/simulation/stragglers.ts'
import type { Reproduction, Row } from '../table.ts'
import {
  allReduceTime,
  decentralisedTime,
  hiddenShare,
  type Setting,
  simulateAllReduce,
  simulateDecentralised,
  topologies,
} from './model.ts'

const workers = 32
const θ = 0.364
const within = 0.01
const seed = 1

/** γ as it is times N. */
export const settingOf = (gamma: number): Setting => ({
  ...{ buckets: 7, workers, update: θ / workers },
  allReduce: gamma / workers,
})

/** Times are multiplied by N. `partial`: ω = 0.6, complete, exponential and ring. */
export interface Reference {
  readonly variance: number
  readonly gamma: number
  readonly allReduce: number
  readonly complete: number
  readonly partial?: readonly [complete: number, exponential: number, ring: number]
}

const alike = (value: number) => [value, value, value] as const

/** b = 7, N = 32, θ = 0.364, u = θ/N; 400 iterations of the model by an implementation of its own. */
export const references: readonly Reference[] = [
  { variance: 0, gamma: 1, allReduce: 24.548, complete: 23.548, partial: alike(23.548) },
  { variance: 0, gamma: 2, allReduce: 25.548, complete: 23.548, partial: alike(23.548) },
  { variance: 0, gamma: 4, allReduce: 39.548, complete: 28, partial: alike(23.548) },
  { variance: 0, gamma: 6, allReduce: 53.548, complete: 42, partial: alike(25.2) },
  { variance: 6.95e-3, gamma: 1, allReduce: 27.25, complete: 23.73, partial: [23.73, 23.68, 23.68] },
  { variance: 6.95e-3, gamma: 4, allReduce: 40.82, complete: 28, partial: [23.74, 23.69, 23.68] },
  { variance: 3e-2, gamma: 1, allReduce: 29.92, complete: 24.23, partial: [24.22, 23.97, 23.9] },
  { variance: 3e-2, gamma: 4, allReduce: 42.09, complete: 28, partial: [24.28, 24.06, 23.99] },
]

const chanceOf = (variance: number) => {
  const stragglers: Stragglers = { type: 'normal', deviation: Math.sqrt(variance) }
  return { stragglers, seed }
}

/** Simulated, times N: all-reduce, complete at ω = 1, and the three at ω = 0.6. */
export function simulated({ variance, gamma }: Pick<Reference, 'variance' | 'gamma'>) {
  const setting = settingOf(gamma)
  const chance = chanceOf(variance)
  const decentralised = (topology: keyof typeof topologies, share: number) =>
    workers * simulateDecentralised(setting, { groups: topologies[topology](workers), share }, chance)
  return {
    allReduce: workers * simulateAllReduce(setting, chance),
    complete: decentralised('complete', 1),
    partial: (['complete', 'exponential', 'ring'] as const).map((topology) => decentralised(topology, 0.6)),
  }
}

function rowsOf(reference: Reference): Row[] {
  const { variance, gamma, partial = [] } = reference
  const ours = simulated(reference)
  const name = `σ² ${variance}, γN ${gamma}:`
  const speedUp = (of: { allReduce: number; complete: number }) => of.allReduce / of.complete
  return [
    { what: `${name} all-reduce`, published: reference.allReduce, ours: ours.allReduce, within },
    { what: `${name} complete, ω 1`, published: reference.complete, ours: ours.complete, within },
    ...['complete', 'exponential', 'ring'].map((topology, index): Row => ({
      what: `${name} ${topology}, ω 0.6`,
      published: partial[index],
      ours: ours.partial[index] ?? NaN,
      within,
    })),
    { what: `${name} speed-up, ω 1`, published: speedUp(reference), ours: speedUp(ours), within },
    {
      what: `${name} speed-up, ω 0.6`,
      published: reference.allReduce / (partial[0] ?? NaN),
      ours: ours.allReduce / (ours.partial[0] ?? NaN),
      within,
    },
  ]
}

/** The paper's consequences of the model, by the closed form. */
function thresholds(): Row[] {
  const many = 1e6
  const slow = { buckets: 7, workers: many, allReduce: 4, update: θ }
  const at = hiddenShare(settingOf(4))
  return [
    { what: 'hidden while ωγN is at most 3+θ', published: 3 + θ, ours: at * 4, within: 1e-9 },
    {
      what: 'time at that ω, times N',
      published: 7 * (3 + θ),
      ours: workers * decentralisedTime(settingOf(4), at),
      within: 1e-9,
    },
    {
      what: 'speed-up where N grows and an update takes θ: 1+γ/θ',
      published: 1 + 4 / θ,
      ours: allReduceTime(slow) / decentralisedTime(slow, 0),
      within: 1e-3,
    },
  ]
}

export function reproduceRuntimeModel(): Promise<Reproduction> {
  return Promise.resolve({
    title: 'Runtime of an iteration, times N (b = 7, N = 32, θ = 0.364)',
    source: 'From promise to practice, ICLR 2025, arXiv 2410.11998',
    rows: [...references.flatMap(rowsOf), ...thresholds()],
    notes: [
      'Computation times are truncated normal (the simulator’s `normal`), 400 iterations.',
      'The published column is the model as reconstructed from the paper’s text by an implementation of its own.',
    ],
  })
}
