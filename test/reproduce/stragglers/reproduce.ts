/** The slowest of many workers, and what it brings to wait for fewer than all. */
import { drawFactor, type Stragglers } from '../../../main/simulation/stragglers.ts'
import { createRng, type Rng } from '../../../shared/random.ts'
import type { Reproduction, Row } from '../table.ts'
import { expectedOrderStatistic } from './order-statistic.ts'

/** T = exp(μ + s·z) */
const μ = 3
const s = 0.1
const stragglers: Stragglers = { type: 'lognormal', deviation: s }
const steps = 20_000
const within = 0.01

export interface Waiting {
  /** Workers that compute. */
  readonly workers: number
  /** Gradients that a step waits for. */
  readonly awaited: number
  readonly mean: number
  readonly deviation?: number
}

/** Of 20 000 steps of an implementation of its own. */
export const references: readonly Waiting[] = [
  { workers: 1, awaited: 1, mean: 20.19 },
  { workers: 10, awaited: 10, mean: 23.46, deviation: 1.4 },
  { workers: 100, awaited: 100, mean: 25.83, deviation: 1.13 },
  { workers: 1000, awaited: 1000, mean: 27.8, deviation: 0.99 },
  { workers: 100, awaited: 96, mean: 23.79 },
  { workers: 100, awaited: 90, mean: 22.76 },
  { workers: 104, awaited: 100, mean: 23.83 },
  { workers: 110, awaited: 100, mean: 22.88 },
]

/** Times of a step that waits for so many of its workers, drawn as the simulator draws them. */
export function drawSteps(
  { workers, awaited }: Pick<Waiting, 'workers' | 'awaited'>,
  rng: Rng,
): Float64Array {
  const times = new Float64Array(workers)
  return new Float64Array(steps).map(() => {
    for (let worker = 0; worker < workers; worker++) times[worker] = drawFactor(stragglers, rng)
    return Math.exp(μ) * (times.sort()[awaited - 1] ?? NaN)
  })
}

export function momentsOf(values: Float64Array): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, deviation: Math.sqrt(variance) }
}

/** By integration instead of drawing. */
export const expected = ({ workers, awaited }: Pick<Waiting, 'workers' | 'awaited'>) =>
  expectedOrderStatistic({ workers, awaited, value: (z) => Math.exp(μ + s * z) })

function rowsOf(waiting: Waiting): Row[] {
  const { workers, awaited, mean, deviation } = waiting
  const ours = momentsOf(drawSteps(waiting, createRng(workers * 1000 + awaited)))
  const name = awaited === workers ? `all of ${workers}` : `the first ${awaited} of ${workers}`
  const exact = expected(waiting)
  return [
    { what: `${name}: mean`, published: mean, ours: ours.mean, within },
    { what: `${name}: mean by integration`, published: mean, ours: exact.mean, within },
    ...(deviation === undefined
      ? []
      : [{ what: `${name}: deviation by integration`, published: deviation, ours: exact.deviation, within }]),
  ]
}

export function reproduceStragglers(): Promise<Reproduction> {
  return Promise.resolve({
    title: 'Seconds of a step that waits for workers of lognormal speed (μ = 3, s = 0.1)',
    source: 'Chen et al. 2016, Revisiting distributed synchronous SGD, arXiv 1604.00981',
    rows: references.flatMap(rowsOf),
    notes: ['Drawn as `rookery simulate --stragglers lognormal:0.1` draws; each mean is of 20 000 steps.'],
  })
}
