/** A finished model with state that is trained and state that is not, and a folder that goes with the test. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { FinishedModel } from '../../../main/core/ports.ts'
import { jobSpec } from '../../../shared/job/spec.ts'

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export const job = `0123abcd${'e'.repeat(56)}`

const column = { dtype: 'uint8', shape: [2], shards: [{ hash: 'a'.repeat(64), bytes: 2, samples: 1 }] }

const spec = jobSpec.parse({
  name: '../My model: ünïcode',
  graph: {
    format: 'rookery-model/1',
    name: 'small',
    task: 'classify',
    input: { type: 'values', shape: [2] },
    layers: [
      { type: 'dense', name: 'in', units: 2, bias: false },
      { type: 'batch-norm', name: 'norm' },
      { type: 'dense', name: 'out', units: 2 },
    ],
    loss: { type: 'cross-entropy' },
  },
  data: {
    format: 'rookery-data/1',
    trainSamples: 1,
    validationSamples: 0,
    inputs: column,
    labels: { ...column, shape: [] },
    normalization: { subtract: [1], divide: [2] },
    classes: ['no', 'yes'],
  },
  recipe: {},
  target: { updates: 5 },
  validation: {},
  seed: 3,
})

/** in [2,2]; scale, shift; out [2,2] and bias; then running mean and variance: 18 numbers, `first` and up. */
export function finishedModel(first = 0): FinishedModel {
  return {
    spec,
    state: Float32Array.from({ length: 18 }, (_, index) => first + index),
    report: { loss: first },
  }
}
