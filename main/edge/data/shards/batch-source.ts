/** Rows of a job's shards as tensors that its model takes. Legend: B rows, T tokens. */
import type { BatchSource } from '../../../core/ports.ts'
import { BadMessageError, InvariantError } from '../../../../shared/errors.ts'
import type { BatchRef, Column, DataManifest } from '../../../../shared/job/data.ts'
import type { JobSpec } from '../../../../shared/job/spec.ts'
import type { ModelGraph } from '../../../../shared/model/graph.ts'
import { type HostTensor, elementCount } from '../../../../shared/tensor.ts'
import { normalized } from '../normalization.ts'
import { inputShapeOf, outputShapeOf, outputWidthOf } from '../suitability.ts'
import { maskRow } from './masking.ts'
import type { RecordFiles, RecordReader } from './record-files.ts'

type Elements = Float32Array | Int32Array | Uint8Array

/** Little-endian records as elements; every machine that runs us is little-endian. */
function elementsOf(bytes: Uint8Array<ArrayBuffer>, dtype: Column['dtype']): Elements {
  if (dtype === 'uint8') return bytes
  return dtype === 'int32' ? new Int32Array(bytes.buffer) : new Float32Array(bytes.buffer)
}

/** Shape of one label. */
function labelShapeOf(graph: ModelGraph): readonly number[] {
  if (graph.task === 'classify') return []
  return graph.task === 'regress' ? outputShapeOf(graph) : inputShapeOf(graph)
}

/** The manifest comes from another peer: does it suit the model of the same job? @throws BadMessageError */
function checkColumns(manifest: DataManifest, graph: ModelGraph): void {
  const { inputs, labels, normalization } = manifest
  const wrong = (what: string) => new BadMessageError(`the job's manifest does not suit its model: ${what}`)
  if (elementCount(inputs.shape) !== elementCount(inputShapeOf(graph)))
    throw wrong(`an input has ${elementCount(inputs.shape)} elements`)
  if (elementCount(labels.shape) !== elementCount(labelShapeOf(graph)))
    throw wrong(`a label has ${elementCount(labels.shape)} elements`)
  if ((labels.dtype === 'float32') !== (graph.task === 'regress')) throw wrong(`labels are ${labels.dtype}`)
  if (graph.input.type === 'tokens' && inputs.dtype === 'float32') throw wrong('tokens are float32')
  if (normalization === undefined) return
  const groups = normalization.subtract.length
  if (groups !== normalization.divide.length || (groups !== 1 && groups !== inputs.shape.at(-1)))
    throw wrong(`it is normalised by ${groups} numbers`)
}

/** Whole numbers in [0, below). @throws BadMessageError: an engine must never see another */
function checkBelow(values: Int32Array, below: number, what: string): Int32Array {
  for (const value of values)
    if (value < 0 || value >= below)
      throw new BadMessageError(
        `the job's data holds ${what} ${value}, but the model knows only 0 to ${below - 1}`,
      )
  return values
}

/** Opens the columns of a manifest; each is read from the disk only when asked for. @throws BadMessageError */
export function createBatchSource(files: RecordFiles, manifest: DataManifest, spec: JobSpec): BatchSource {
  const { graph } = spec
  const total = manifest.trainSamples + manifest.validationSamples
  checkColumns(manifest, graph)
  const inputs = files.column(manifest.inputs, total)
  const labels = files.column(manifest.labels, total)
  const read = async (reader: RecordReader, column: Column, batch: BatchRef) =>
    elementsOf(await reader.gather(batch.rows), column.dtype)

  /** Original tokens [B, T], and what each row's masks are. */
  async function masked(reader: RecordReader, column: Column, batch: BatchRef) {
    if (graph.input.type !== 'tokens') throw new InvariantError('only tokens are masked')
    const { vocabulary, length } = graph.input
    const tokens = checkBelow(Int32Array.from(await read(reader, column, batch)), vocabulary, 'token')
    const rowOf = (index: number) => tokens.subarray(index * length, (index + 1) * length)
    const masks = Array.from(batch.rows, (row, index) =>
      maskRow(rowOf(index), vocabulary, { seed: spec.seed, row, epoch: batch.epoch }).map((mask) => ({
        at: index * length + mask.position,
        shown: mask.shown,
      })),
    )
    return { tokens, masks: masks.flat() }
  }

  async function maskedInputs(batch: BatchRef): Promise<Int32Array> {
    const { tokens, masks } = await masked(inputs, manifest.inputs, batch)
    for (const { at, shown } of masks) tokens[at] = shown
    return tokens
  }

  async function maskedLabels(batch: BatchRef): Promise<Int32Array> {
    const { tokens, masks } = await masked(labels, manifest.labels, batch)
    const ignored = graph.loss.type === 'cross-entropy' ? graph.loss.ignoreLabel : -100
    const guessed = new Int32Array(tokens.length).fill(ignored)
    for (const { at } of masks) guessed[at] = tokens[at] ?? ignored
    return guessed
  }

  async function inputTokens(batch: BatchRef, vocabulary: number): Promise<Int32Array> {
    if (graph.task === 'masked-token') return maskedInputs(batch)
    return checkBelow(Int32Array.from(await read(inputs, manifest.inputs, batch)), vocabulary, 'token')
  }

  return {
    async inputs(batch): Promise<HostTensor> {
      const shape = [batch.rows.length, ...inputShapeOf(graph)]
      if (graph.input.type === 'tokens')
        return { dtype: 'int32', shape, data: await inputTokens(batch, graph.input.vocabulary) }
      const stored = await read(inputs, manifest.inputs, batch)
      const values = stored instanceof Int32Array ? Float32Array.from(stored) : stored
      return { dtype: 'float32', shape, data: normalized(values, manifest.normalization) }
    },
    async labels(batch): Promise<HostTensor> {
      const shape = [batch.rows.length, ...labelShapeOf(graph)]
      if (graph.task === 'masked-token') return { dtype: 'int32', shape, data: await maskedLabels(batch) }
      const stored = await read(labels, manifest.labels, batch)
      if (stored instanceof Float32Array) return { dtype: 'float32', shape, data: stored }
      const data = checkBelow(Int32Array.from(stored), outputWidthOf(graph), 'label')
      return { dtype: 'int32', shape, data }
    },
  }
}
