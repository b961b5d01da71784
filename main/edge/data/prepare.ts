/** A host's data made ready for a job: checked against the model, shuffled once, written as shards. */
import { InvalidInputError } from '../../../shared/errors.ts'
import type { DataManifest, DataSource, Normalization } from '../../../shared/job/data.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { createRng, permutation, seedFrom } from '../../../shared/random.ts'
import { bytesPerElement, elementCount } from '../../../shared/tensor.ts'
import { createColumnWriter } from './column-writer.ts'
import { stopIfAborted } from './formats/bytes.ts'
import { openCifar10 } from './formats/cifar10.ts'
import { openCsv } from './formats/csv.ts'
import { openIdx } from './formats/idx.ts'
import { openImages } from './formats/images.ts'
import type { ReadingContext, SampleStream } from './formats/samples.ts'
import { readWindows, tokensOf } from './formats/text.ts'
import { type FinishedLabels, createLabelCollector } from './labels.ts'
import { createMoments } from './normalization.ts'
import { maxRecordBytes } from './shards/record-files.ts'
import type { DiskShardStore } from './shards/shard-store.ts'
import { type Spool, createSpool } from './spool.ts'
import { checkSourceSuits } from './suitability.ts'

export interface PrepareRequest {
  readonly source: DataSource
  readonly graph: ModelGraph
  /** Share of the samples that is held out. */
  readonly validationShare: number
  /** Of the job: same seed, same order. */
  readonly seed: number
  readonly store: DiskShardStore
  /** Classes and normalisation of an earlier training, where this data is to be judged by its model. */
  readonly like?: Pick<DataManifest, 'classes' | 'normalization'>
  readonly onProgress?: (progress: PrepareProgress) => void
  readonly signal?: AbortSignal
}

export interface PrepareProgress {
  readonly phase: 'reading' | 'writing'
  readonly samples: number
}

/** Samples between two reports. */
const reportEvery = 4096

/**
 * Read a source, write its shards, and say what is in them.
 *
 * @throws InvalidInputError naming file and place when the data is broken or does not suit the model
 * @throws DiskFullError, AbortedError
 */
export async function prepareData(request: PrepareRequest): Promise<DataManifest> {
  const { source, graph } = request
  checkSourceSuits(source, graph)
  return source.type === 'text' ? prepareText(source.path, request) : prepareSamples(source, request)
}

export function openSamples(
  source: Exclude<DataSource, { type: 'text' }>,
  context: ReadingContext,
): SampleStream | Promise<SampleStream> {
  switch (source.type) {
    case 'csv':
      return openCsv(source, context)
    case 'idx':
      return openIdx(source, context)
    case 'cifar10':
      return openCifar10(source, context)
    case 'images':
      return openImages(source, context)
  }
}

/** Rows for training and for validation: at least one trains; a share above 0 holds out at least one of several. */
export function divide(
  count: number,
  share: number,
): Pick<DataManifest, 'trainSamples' | 'validationSamples'> {
  const wanted = share > 0 ? Math.max(1, Math.round(count * share)) : 0
  const validationSamples = Math.min(wanted, count - 1)
  return { trainSamples: count - validationSamples, validationSamples }
}

const bytesOf = (values: Float32Array | Int32Array | Uint8Array) =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

async function prepareSamples(
  source: Exclude<DataSource, { type: 'text' }>,
  request: PrepareRequest,
): Promise<DataManifest> {
  const stream = await openSamples(source, request)
  const recordBytes = bytesPerElement[stream.dtype] * elementCount(stream.shape)
  let spool: Spool | undefined
  try {
    if (recordBytes > maxRecordBytes)
      throw new InvalidInputError(`a sample of ${recordBytes} bytes is too large: use a smaller model input`)
    spool = await createSpool(request.store.folder, recordBytes)
    const labels = createLabelCollector(request.graph, request.like?.classes ?? stream.classes)
    for await (const sample of stream.samples) {
      stopIfAborted(request.signal)
      labels.add(sample)
      await spool.add(bytesOf(sample.input))
      if (spool.count % reportEvery === 0) request.onProgress?.({ phase: 'reading', samples: spool.count })
    }
    await spool.finish()
    if (spool.count === 0) throw new InvalidInputError(`the ${source.type} data holds no samples`)
    return await writeShuffled(request, stream, { spool, labels: labels.finish() })
  } finally {
    await spool?.close()
    await stream.close()
  }
}

async function writeShuffled(
  request: PrepareRequest,
  stream: SampleStream,
  { spool, labels }: { readonly spool: Spool; readonly labels: FinishedLabels },
): Promise<DataManifest> {
  const { count } = spool
  const parts = divide(count, request.validationShare)
  const order = permutation(createRng(seedFrom('shuffle', request.seed)), count)
  const { dtype, shape } = stream
  const inputWriter = createColumnWriter(request.store, { dtype, shape: [...shape] }, count)
  const labelWriter = createColumnWriter(
    request.store,
    { dtype: labels.dtype, shape: [...labels.shape] },
    count,
  )
  const moments = createMoments(stream.normalize === 'per-last-axis' ? (shape.at(-1) ?? 1) : 1)
  const labelBytes = labels.values.BYTES_PER_ELEMENT
  const allLabels = bytesOf(labels.values)
  for (const [row, picked] of order.entries()) {
    const record = inputWriter.next()
    spool.read(picked, record)
    if (row < parts.trainSamples) moments.add(dtype === 'float32' ? floatsOver(record) : record)
    await inputWriter.commit()
    labelWriter.next().set(allLabels.subarray(picked * labelBytes, (picked + 1) * labelBytes))
    await labelWriter.commit()
    if ((row + 1) % reportEvery !== 0) continue
    stopIfAborted(request.signal)
    request.onProgress?.({ phase: 'writing', samples: row + 1 })
  }
  const normalization = normalizationOf(request, stream, moments.result())
  return {
    format: 'rookery-data/1',
    ...parts,
    inputs: await inputWriter.finish(),
    labels: await labelWriter.finish(),
    ...(normalization && { normalization }),
    ...(labels.classes && { classes: [...labels.classes] }),
  }
}

function floatsOver(record: Uint8Array): Float32Array {
  return new Float32Array(record.buffer, record.byteOffset, record.byteLength / 4)
}

function normalizationOf(
  { like }: PrepareRequest,
  stream: SampleStream,
  found: Normalization,
): Normalization | undefined {
  if (like !== undefined) return like.normalization
  return stream.normalize === 'none' ? undefined : found
}

async function prepareText(path: string, request: PrepareRequest): Promise<DataManifest> {
  const { graph, store, signal } = request
  const { length, usable } = tokensOf(graph)
  const column = { dtype: 'uint8' as const, shape: [length] }
  const inputs = createColumnWriter(store, column)
  const labels = createColumnWriter(store, column)
  // A masked row is judged by its own tokens, any other by those that come one later.
  const shift = graph.task === 'masked-token' ? 0 : 1
  let count = 0
  for await (const window of readWindows(path, { length, usable }, signal)) {
    stopIfAborted(signal)
    inputs.next().set(window.subarray(0, length))
    await inputs.commit()
    labels.next().set(window.subarray(shift, length + shift))
    await labels.commit()
    count += 1
    if (count % reportEvery === 0) request.onProgress?.({ phase: 'writing', samples: count })
  }
  if (count === 0)
    throw new InvalidInputError(
      `"${path}" is too short: model "${graph.name}" needs more than ${length} bytes of text`,
    )
  return {
    format: 'rookery-data/1',
    ...divide(count, request.validationShare),
    inputs: await inputs.finish(),
    labels: await labels.finish(),
  }
}
