/** The jobs of a demo: the pool's, the same on one PC, and the same without what repairs staleness. */
import { basename, resolve } from 'node:path'
import { InvalidInputError } from '../../../shared/errors.ts'
import { jobFile } from '../../../shared/job/spec.ts'
import type { JobFile } from '../../../shared/job/spec.ts'
import { modelGraph } from '../../../shared/model/graph.ts'
import { modelReference } from '../context.ts'
import { recipeOfGraph, recipeOfPreset } from '../demo-recipes.ts'
import type { DemoRecipe } from '../demo-recipes.ts'
import { readJsonFile } from '../json-file.ts'

export interface DemoChoice {
  readonly model: string
  readonly peers: number
  readonly clusters: number
  readonly updates?: number
  readonly seed: number
}

export interface DemoModel {
  /** As a job names it: a preset, or an absolute path. */
  readonly reference: string
  /** As a folder may be called. */
  readonly name: string
  readonly recipe: DemoRecipe
}

/** @throws InvalidInputError for a model that the demo has no data for */
export async function readDemoModel(model: string): Promise<DemoModel> {
  const reference = modelReference(model, process.cwd())
  if (reference === model && basename(model) === model) {
    return { reference, name: model, recipe: recipeOfPreset(model) }
  }
  const graph = await readJsonFile(resolve(reference), modelGraph)
  return { reference, name: graph.name, recipe: recipeOfGraph(graph) }
}

/** Stages of each cluster: peers spread evenly, the smaller clusters first. @throws InvalidInputError */
export function demoShape(peers: number, clusters: number): number[] {
  if (peers < clusters) {
    throw new InvalidInputError(`${clusters} clusters need at least ${clusters} peers, not ${peers}`)
  }
  return Array.from({ length: clusters }, (_, index) => Math.floor((peers + index) / clusters))
}

/** The job of the pool. */
export function poolJob(model: DemoModel, choice: DemoChoice): JobFile {
  const { recipe } = model
  const updates = choice.updates ?? recipe.updates
  return jobFile.parse({
    name: `demo ${model.name}`.slice(0, 80),
    model: model.reference,
    data: recipe.data,
    recipe: {
      schedule: { microBatch: recipe.microBatch },
      sync: { averageEveryUpdates: recipe.averageEveryUpdates },
      optimizer: { type: 'adamw', learningRate: recipe.learningRate },
      learningRate: {
        type: 'cosine',
        // A short run still needs most of its updates at full rate.
        warmupUpdates: Math.min(recipe.warmupUpdates, Math.floor(updates / 4)),
        totalUpdates: updates,
      },
      ...(recipe.clipNorm === undefined ? {} : { clipNorm: recipe.clipNorm }),
    },
    target: { updates },
    validation: {
      share: recipe.validationShare,
      everyUpdates: Math.max(1, Math.round(updates / 4)),
      samples: 256,
    },
    gathering: { peers: choice.peers, clusters: choice.clusters },
    seed: choice.seed,
  })
}

/** The same on one PC: as many updates, each of as many samples as all clusters together took for one. */
export function singleJob(
  job: JobFile,
  pool: { readonly clusters: number; readonly accumulate: number },
): JobFile {
  return {
    ...job,
    name: 'demo on one PC',
    recipe: {
      ...job.recipe,
      schedule: { ...job.recipe.schedule, accumulate: pool.accumulate * pool.clusters },
    },
    gathering: { ...job.gathering, peers: 1, clusters: 1 },
  }
}

/**
 * The pool's job without repair of staleness: an update every micro-batch, at whatever weights it was computed.
 * As many samples in all, an averaging round and a warm-up over as many samples as before.
 */
export function plainJob(job: JobFile, pool: { readonly accumulate: number }): JobFile {
  const times = pool.accumulate
  const updates = job.target.updates * times
  const { recipe, validation } = job
  const every = validation.everyUpdates
  return {
    ...job,
    name: 'demo without repair of staleness',
    recipe: {
      ...recipe,
      staleness: 'none',
      schedule: { ...recipe.schedule, accumulate: 1 },
      sync: { ...recipe.sync, averageEveryUpdates: recipe.sync.averageEveryUpdates * times },
      learningRate:
        recipe.learningRate.type === 'cosine'
          ? {
              ...recipe.learningRate,
              warmupUpdates: recipe.learningRate.warmupUpdates * times,
              totalUpdates: updates,
            }
          : recipe.learningRate,
    },
    target: { updates },
    validation: { ...validation, ...(every === undefined ? {} : { everyUpdates: every * times }) },
  }
}
