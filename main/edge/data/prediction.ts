/** What a finished model is asked: a file, a line of values or a prompt as a tensor. Legend: B rows, T tokens. */
import { stat } from 'node:fs/promises'
import { InvalidInputError } from '../../../shared/errors.ts'
import type { DataManifest } from '../../../shared/job/data.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { type HostTensor, elementCount } from '../../../shared/tensor.ts'
import { openBytes } from './formats/bytes.ts'
import { type CsvRow, createRowParser, isHeader, readCsvRows } from './formats/csv.ts'
import { imageShapeOf, isPicture, readPicture } from './formats/images.ts'
import { checkTokens, tokensOf } from './formats/text.ts'
import { normalized } from './normalization.ts'
import { inputShapeOf } from './suitability.ts'

/** Of a finished model: how its training data was read. */
export interface TrainedModel {
  readonly graph: ModelGraph
  readonly data: Pick<DataManifest, 'inputs' | 'normalization' | 'classes'>
}

/** Rows answered at once: a file of more is for `evaluate`. */
const maxRows = 1000

/** What was given is no line of values or text, but names a file. */
export const isFile = async (input: string): Promise<boolean> =>
  (await stat(input).catch(() => undefined))?.isFile() === true

/**
 * What is asked as input [B, ...] of a model: a file with rows of features without label as CSV, one picture or one
 * prompt; or in place the values of one sample with commas between, or the prompt itself.
 *
 * @throws InvalidInputError in one sentence that names the file or the value
 */
export async function createPredictionInput(input: string, model: TrainedModel): Promise<HostTensor> {
  const inFile = await isFile(input)
  if (model.graph.input.type === 'tokens')
    return createPrompt(inFile ? await readTail(input, model) : Buffer.from(input), model).tensor
  const stored = inFile ? await fileFeatures(input, model) : lineFeatures(input, model)
  const shape = inputShapeOf(model.graph)
  return {
    dtype: 'float32',
    shape: [stored.length / elementCount(shape), ...shape],
    data: normalized(stored, model.data.normalization),
  }
}

/** A prompt in place: the model's answer to it stands at `position`. */
export interface Prompt {
  /** int32 [1, T]; what a short prompt leaves free is filled with spaces. */
  readonly tensor: HostTensor
  /** Of the last byte of the prompt. */
  readonly position: number
}

/** The last T bytes of a text as tokens. @throws InvalidInputError when it is empty or has unknown tokens */
export function createPrompt(text: Uint8Array, { graph }: TrainedModel): Prompt {
  const { length, usable } = tokensOf(graph)
  const shown = text.subarray(Math.max(0, text.length - length))
  if (shown.length === 0) throw new InvalidInputError('the prompt is empty: give at least one character')
  checkTokens(shown, usable, (index) => `byte ${index} of the prompt`)
  const tokens = new Int32Array(length).fill(Math.min(0x20, usable - 1))
  tokens.set(shown)
  return { tensor: { dtype: 'int32', shape: [1, length], data: tokens }, position: shown.length - 1 }
}

/** What a class number means; the number itself where the data named no classes. */
export function nameOfClass(data: Pick<DataManifest, 'classes'>, index: number): string {
  return data.classes?.[index] ?? String(index)
}

/** The last bytes of a file: as many as the model sees. */
async function readTail(path: string, { graph }: TrainedModel): Promise<Uint8Array> {
  const { length } = tokensOf(graph)
  let tail: Uint8Array = new Uint8Array(0)
  for await (const chunk of openBytes(path)) tail = Buffer.concat([tail, chunk]).subarray(-length)
  return tail
}

const fileFeatures = (path: string, model: TrainedModel): Promise<Uint8Array | Float32Array> =>
  isPicture(path) ? picturePixels(path, model) : csvFeatures(path, model)

/** `0, 5, 13, …`: exactly the values of one sample. */
function lineFeatures(line: string, { graph }: TrainedModel): Float32Array {
  const cells = line.trim().split(/\s*[,;\s]\s*/)
  const values = cells.map((cell) => (cell === '' ? Number.NaN : Number(cell)))
  const width = elementCount(inputShapeOf(graph))
  if (cells.length === 1 && width > 1 && Number.isNaN(values[0]))
    throw new InvalidInputError(
      `there is no file "${line}"; give its whole path, or ${width} values with commas between`,
    )
  const wrong = values.findIndex((value) => !Number.isFinite(Math.fround(value)))
  if (wrong >= 0)
    throw new InvalidInputError(
      `value ${wrong + 1} is "${(cells[wrong] ?? '').slice(0, 40)}"; it has to be a number`,
    )
  if (values.length !== width)
    throw new InvalidInputError(
      `these are ${values.length} values, but model "${graph.name}" takes ${width}, without a label`,
    )
  return Float32Array.from(values)
}

function picturePixels(path: string, { graph, data }: TrainedModel): Promise<Uint8Array> {
  // Trained on numbers of the user's own scale, the model would misread bytes of 0 to 255.
  if (data.inputs.dtype !== 'uint8')
    throw new InvalidInputError(
      `"${path}" is a picture, but model "${graph.name}" was trained on rows of CSV`,
    )
  return readPicture(path, imageShapeOf(graph))
}

async function csvFeatures(path: string, { graph }: TrainedModel): Promise<Float32Array> {
  const rows: CsvRow[] = []
  for await (const row of readCsvRows(path)) {
    if (rows.length > maxRows) throw new InvalidInputError(`"${path}" has more than ${maxRows} rows`)
    rows.push(row)
  }
  const [first, second] = rows
  if (first === undefined) throw new InvalidInputError(`"${path}" holds no rows`)
  // A lone row is what is asked, never a header.
  const header = rows.length > 1 && isHeader(first, second, undefined) ? rows.shift() : undefined
  const width = elementCount(inputShapeOf(graph))
  if (first.cells.length !== width)
    throw new InvalidInputError(
      `"${path}" has ${first.cells.length} columns, but model "${graph.name}" takes ${width} features without a label`,
    )
  const parseRow = createRowParser(path, width, header)
  const features = new Float32Array(rows.length * width)
  for (const [index, row] of rows.entries())
    parseRow(row, undefined, features.subarray(index * width, (index + 1) * width))
  return features
}
