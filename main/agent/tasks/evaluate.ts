/** `rookery evaluate`: a finished model on data. */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvalidInputError } from '../../../shared/errors.ts'
import { type DataManifest, type DataSource, dataSource } from '../../../shared/job/data.ts'
import type { JobSpec } from '../../../shared/job/spec.ts'
import type { Scores } from '../../../shared/model/graph.ts'
import { addTallies, emptyTally, scoresOf } from '../../../shared/model/tally.ts'
import type { BatchSource, StageEngine } from '../../core/ports.ts'
import { prepareData } from '../../edge/data/prepare.ts'
import { createShardStore } from '../../edge/data/shards/shard-store.ts'
import { withModel } from './whole-model.ts'

export interface Evaluation {
  readonly samples: number
  /** `validation`: the data is what the model was trained on, so only what was held out then is judged. */
  readonly judged: 'validation' | 'all'
  readonly scores: Scores
}

/** A source from a path, read as the model's own data was. */
async function sourceAt(path: string, { graph }: JobSpec): Promise<DataSource> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new InvalidInputError(`${path}: no such file or folder`)
  const tokens = graph.input.type === 'tokens'
  const type = tokens ? 'text' : found.isDirectory() ? 'images' : 'csv'
  return dataSource.parse({ type, path })
}

const isSameData = (a: DataManifest, b: DataManifest) =>
  JSON.stringify([a.inputs.shards, a.labels.shards]) === JSON.stringify([b.inputs.shards, b.labels.shards])

/** @throws InvalidInputError for a folder without a model, or data that does not suit it */
export async function evaluateTask(task: {
  readonly modelDirectory: string
  readonly data: DataSource | string
}): Promise<Evaluation> {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-evaluate-'))
  try {
    return await withModel(task.modelDirectory, async ({ spec }, engine) => {
      const source = typeof task.data === 'string' ? await sourceAt(task.data, spec) : task.data
      const store = await createShardStore(folder)
      const { graph, validation, seed } = spec
      const asTrained = { source, graph, validationShare: validation.share, seed, store }
      const manifest = await prepareData(asTrained).catch(() => undefined)
      if (manifest !== undefined && isSameData(manifest, spec.data))
        return judge(engine, store.open(manifest, spec), spec, {
          judged: 'validation',
          from: manifest.trainSamples,
          to: manifest.trainSamples + manifest.validationSamples,
        })
      const all = await prepareData({ ...asTrained, validationShare: 0, like: spec.data })
      const range = { judged: 'all', from: 0, to: all.trainSamples } as const
      return judge(engine, store.open(all, { ...spec, data: all }), spec, range)
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function judge(
  engine: StageEngine,
  batches: BatchSource,
  { recipe: { schedule } }: JobSpec,
  { judged, from, to }: { readonly judged: Evaluation['judged']; readonly from: number; readonly to: number },
): Promise<Evaluation> {
  let tally = emptyTally
  for (let first = from; first < to; first += schedule.microBatch) {
    const length = Math.min(schedule.microBatch, to - first)
    const batch = { rows: Uint32Array.from({ length }, (_, offset) => first + offset), epoch: 0 }
    tally = addTallies(tally, await engine.judge(await batches.inputs(batch), await batches.labels(batch)))
  }
  const scores = scoresOf(tally)
  if (scores === undefined)
    throw new InvalidInputError('the data holds nothing that this model could be judged on')
  return { samples: to - from, judged, scores }
}
