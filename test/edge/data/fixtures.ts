/** Small models, temporary folders and whole data sets for the tests of the data room. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type PrepareRequest, prepareData } from '../../../main/edge/data/prepare.ts'
import { createShardStore } from '../../../main/edge/data/shards/shard-store.ts'
import { type DataManifest, type DataSource, dataManifest } from '../../../shared/job/data.ts'
import { type JobSpec, jobSpec } from '../../../shared/job/spec.ts'
import { type ModelGraph, modelGraph } from '../../../shared/model/graph.ts'

/** A folder that goes with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rookery-data-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A file with this content in a folder of its own. */
export async function temporaryFile(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), name)
  await writeFile(path, content)
  return path
}

/** Values in, `outputs` classes or numbers out. */
export function valuesModel(shape: readonly number[], outputs: number, task = 'classify'): ModelGraph {
  return modelGraph.parse({
    format: 'rookery-model/1',
    name: 'small',
    task,
    input: { type: 'values', shape },
    layers: [
      { type: 'flatten', name: 'flatten' },
      { type: 'dense', name: 'out', units: outputs },
    ],
    loss: { type: task === 'regress' ? 'mean-squared-error' : 'cross-entropy' },
  })
}

/** Tokens in, a guess a token out. */
export function tokensModel(task: string, length: number, vocabulary = 256): ModelGraph {
  return modelGraph.parse({
    format: 'rookery-model/1',
    name: 'speaker',
    task,
    input: { type: 'tokens', length, vocabulary },
    layers: [
      { type: 'token-embedding', name: 'tokens', vocabulary, width: 4 },
      { type: 'dense', name: 'out', units: vocabulary },
    ],
    loss: { type: 'cross-entropy' },
  })
}

export function specOf(graph: ModelGraph, data: DataManifest, seed = 0): JobSpec {
  return jobSpec.parse({
    name: 'test',
    graph,
    data,
    recipe: {},
    target: { updates: 1 },
    validation: {},
    seed,
  })
}

/** Prepares a source in a new store and opens it; the manifest has passed its schema. */
export async function prepared(
  source: DataSource,
  graph: ModelGraph,
  options: Partial<Pick<PrepareRequest, 'validationShare' | 'seed' | 'like' | 'signal'>> & {
    cacheBytes?: number
  } = {},
) {
  const { cacheBytes, ...rest } = options
  const store = await createShardStore(
    await temporaryFolder(),
    cacheBytes === undefined ? {} : { cacheBytes },
  )
  const request = { source, graph, validationShare: 0, seed: 1, store, ...rest }
  const manifest = dataManifest.parse(await prepareData(request))
  const spec = specOf(graph, manifest)
  return { store, manifest, spec, batches: store.open(manifest, spec) }
}

/** Rows from..to-1. */
export function rows(from: number, to: number): Uint32Array {
  return Uint32Array.from({ length: to - from }, (_, index) => from + index)
}

/** One array a row. */
export function byRow(values: ArrayLike<number>, width: number): number[][] {
  const all = Array.from(values)
  return Array.from({ length: all.length / width }, (_, row) => all.slice(row * width, (row + 1) * width))
}

/** Bytes of an IDX file with these sizes. */
export function idxFile(sizes: readonly number[], bytes: ArrayLike<number>): Buffer {
  const head = Buffer.alloc(4 + 4 * sizes.length)
  head.set([0, 0, 8, sizes.length])
  for (const [axis, size] of sizes.entries()) head.writeUInt32BE(size, 4 + 4 * axis)
  return Buffer.concat([head, Uint8Array.from(bytes)])
}
