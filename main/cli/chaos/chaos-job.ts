/** The jobs of a chaos run: the pool's, which goes on until it is told to end, and the same on one PC in peace. */
import { jobFile, type JobFile } from '../../../shared/job/spec.ts'
import type { JobResult } from '../../../shared/messages/control.ts'
import { recipeOfPreset } from '../demo-recipes.ts'

/** Small and quick: what is tested is the pool. */
export const chaosModel = 'digits-mlp'
const { data, microBatch, validationShare } = recipeOfPreset(chaosModel)

export function chaosJob(choice: {
  readonly peers: number
  readonly clusters: number
  readonly seed: number
}): JobFile {
  const { peers, clusters, seed } = choice
  return jobFile.parse({
    name: 'chaos',
    model: chaosModel,
    data,
    recipe: {
      schedule: { microBatch },
      sync: { averageEveryUpdates: 10 },
      // So much decay that the loss comes to rest within some hundred updates, wherever the faults fell: what is left
      // between the two runs is what the faults did to the weights.
      optimizer: { type: 'sgd', learningRate: 0.08, weightDecay: 0.02 },
    },
    target: { updates: 1_000_000_000 },
    validation: { share: validationShare },
    gathering: { peers, clusters, deadlineSeconds: 600 },
    seed,
  })
}

/** The same number of updates on the same number of samples, by one PC that nothing happens to. */
export function undisturbedJob(job: JobFile, { updates, samples }: JobResult): JobFile {
  const { schedule } = job.recipe
  const accumulate = Math.max(1, Math.round(samples / Math.max(1, updates) / schedule.microBatch))
  return {
    ...job,
    name: 'the same, undisturbed',
    recipe: { ...job.recipe, schedule: { ...schedule, accumulate } },
    target: { updates: Math.max(1, Math.round(samples / (accumulate * schedule.microBatch))) },
    gathering: { ...job.gathering, peers: 1, clusters: 1 },
  }
}
