/** What `rookery demo` trains each model on and how: one recipe a family of presets. */
import { join } from 'node:path'
import { InvalidInputError } from '../../shared/errors.ts'
import type { DataSource } from '../../shared/job/data.ts'
import type { ModelGraph } from '../../shared/model/graph.ts'

/** The parts of a job that depend on the model. */
export interface DemoRecipe {
  readonly data: DataSource
  /** Updates of each cluster, where `--updates` does not say. */
  readonly updates: number
  readonly microBatch: number
  readonly averageEveryUpdates: number
  readonly learningRate: number
  readonly warmupUpdates: number
  readonly clipNorm?: number
  readonly validationShare: number
}

const sample = (file: string): string => join(import.meta.dirname, '../../resources/samples', file)

const digits: DemoRecipe = {
  data: { type: 'csv', path: sample('digits.csv.gz'), label: -1, normalize: 'global' },
  updates: 200,
  microBatch: 16,
  averageEveryUpdates: 10,
  learningRate: 0.003,
  warmupUpdates: 20,
  validationShare: 0.2,
}

const text: DemoRecipe = {
  data: { type: 'text', path: sample('moby-dick.txt') },
  updates: 600,
  microBatch: 4,
  averageEveryUpdates: 2,
  learningRate: 0.003,
  warmupUpdates: 50,
  clipNorm: 1,
  validationShare: 0.05,
}

const families: Readonly<Record<string, DemoRecipe>> = { digits, gpt: text, bert: text }

/** @throws InvalidInputError for a preset that has no sample data in this project */
export function recipeOfPreset(name: string): DemoRecipe {
  const recipe = families[name.split('-')[0] ?? '']
  if (recipe !== undefined) return recipe
  throw new InvalidInputError(
    `the demo has no sample data for "${name}"; take digits-…, gpt-… or bert-…, or \`rookery host\` with your own data`,
  )
}

/** @throws InvalidInputError for a graph whose input none of the samples fits */
export function recipeOfGraph(graph: ModelGraph): DemoRecipe {
  if (graph.input.type === 'tokens') return text
  const values = graph.input.shape.reduce((product, extent) => product * extent, 1)
  if (values === 64 && graph.task === 'classify') return digits
  throw new InvalidInputError(
    `the demo has no sample data for the model ${graph.name}; it takes tokens, or classifies 64 values as the digits have`,
  )
}
