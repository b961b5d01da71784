/** A look into data before it is hosted: how much there is, some of it as a person sees it, and what is wrong. */
import { basename } from 'node:path'
import sharp from 'sharp'
import { AbortedError, InvalidInputError } from '../../../shared/errors.ts'
import type { DataSource } from '../../../shared/job/data.ts'
import type { DataPreview } from '../../../shared/messages/cards.ts'
import type { ModelGraph } from '../../../shared/model/graph.ts'
import { createRowParser, isHeader, labelIndex, readCsvRows, type CsvRow } from './formats/csv.ts'
import type { Sample } from './formats/samples.ts'
import { readWindows, tokensOf } from './formats/text.ts'
import { createLabelCollector } from './labels.ts'
import { divide, openSamples } from './prepare.ts'
import { checkSourceSuits, inputShapeOf } from './suitability.ts'

const maxExamples = 12
const maxFaults = 100
const maxClasses = 1000
const shownNumbers = 8
const shownCharacters = 200

export interface PreviewRequest {
  readonly source: DataSource
  readonly graph: ModelGraph
  /** Share that will be held out. */
  readonly validationShare: number
  readonly signal?: AbortSignal
}

type Example = DataPreview['examples'][number]
type Fault = DataPreview['faults'][number]
type SampledSource = Exclude<DataSource, { type: 'text' }>

/** What was found so far. */
interface Findings {
  samples: number
  readonly classes: Set<string>
  readonly examples: Example[]
  readonly faults: Fault[]
}

/**
 * Read all of a source and keep little of it. What is wrong with the data is in the answer, not an error.
 *
 * @throws AbortedError
 */
export async function previewData(request: PreviewRequest): Promise<DataPreview> {
  const { source, graph, validationShare } = request
  const found: Findings = { samples: 0, classes: new Set(), examples: [], faults: [] }
  try {
    checkSourceSuits(source, graph)
    await (source.type === 'text'
      ? readText(source.path, request, found)
      : readSamples(source, request, found))
    if (found.samples === 0 && found.faults.length === 0)
      throw new InvalidInputError('the data holds no samples: choose another file or folder')
  } catch (thrown) {
    if (thrown instanceof AbortedError || !(thrown instanceof InvalidInputError)) throw thrown
    note(found, nameOf(source), thrown)
  }
  const { samples, classes, examples, faults } = found
  const held = samples === 0 ? 0 : divide(samples, validationShare).validationSamples
  return { samples, validationSamples: held, classes: [...classes], examples, faults }
}

/** The file or folder, as the user knows it. */
function nameOf(source: DataSource): string {
  if (source.type === 'idx') return basename(source.images)
  return basename(source.type === 'cifar10' ? (source.paths[0] ?? '') : source.path)
}

function note({ faults }: Findings, where: string, { message }: InvalidInputError): void {
  const known = faults.some((fault) => fault.problem === message)
  if (faults.length < maxFaults && !known) faults.push({ where, problem: message })
}

async function readSamples(source: SampledSource, request: PreviewRequest, found: Findings): Promise<void> {
  const { graph, signal } = request
  const stream = await openSamples(source, { graph, signal })
  try {
    const labels = createLabelCollector(graph, stream.classes)
    for await (const sample of stream.samples) {
      if (signal?.aborted === true) throw new AbortedError('the preview was stopped')
      try {
        labels.add(sample)
        await take(sample, graph, found)
      } catch (thrown) {
        if (!(thrown instanceof InvalidInputError)) throw thrown
        note(found, sample.place().replace(/ of ".*"$/, ''), thrown)
      }
      if (found.faults.length >= maxFaults) break
    }
  } catch (thrown) {
    // A row that cannot be read ends the stream; the other rows may have more to say.
    if (source.type !== 'csv' || !(thrown instanceof InvalidInputError)) throw thrown
    await findRowFaults(source, found, signal)
  } finally {
    await stream.close()
  }
}

async function take(sample: Sample, graph: ModelGraph, found: Findings): Promise<void> {
  found.samples++
  const isNew = graph.task === 'classify' && !found.classes.has(sample.label)
  if (isNew && found.classes.size < maxClasses) found.classes.add(sample.label)
  // One of each class first; what comes early fills the rest.
  const room = maxExamples - found.examples.length
  const kept = graph.task !== 'classify' || isNew || found.samples <= maxExamples / 2
  if (room > 0 && kept) found.examples.push(await exampleOf(sample, graph))
}

async function exampleOf({ input, label }: Sample, graph: ModelGraph): Promise<Example> {
  const [height = 0, width = 0, channels = 0] = inputShapeOf(graph)
  const isPicture = inputShapeOf(graph).length === 3 && (channels === 1 || channels === 3)
  if (isPicture && height > 1 && width > 1)
    return { label, picture: await pictureOf(input, { height, width, channels }) }
  const numbers = [...input.subarray(0, shownNumbers)].map((value) => Number(value.toPrecision(4)))
  return { label, text: numbers.join(', ') + (input.length > shownNumbers ? ', …' : '') }
}

/** Values from the least, black, to the greatest, white; bytes as they are. @returns a data URL */
async function pictureOf(
  input: Float32Array | Uint8Array,
  raw: { readonly height: number; readonly width: number; readonly channels: number },
): Promise<string> {
  const values = Float32Array.from(input)
  const least = values.reduce((low, value) => Math.min(low, value), Infinity)
  const range = values.reduce((high, value) => Math.max(high, value), -Infinity) - least
  const bytes =
    input instanceof Uint8Array
      ? Buffer.from(input)
      : Buffer.from(Uint8Array.from(values, (value) => (range === 0 ? 0 : (255 * (value - least)) / range)))
  const channels = raw.channels === 1 ? 1 : 3
  const png = await sharp(bytes, { raw: { ...raw, channels } })
    .png()
    .toBuffer()
  return `data:image/png;base64,${png.toString('base64')}`
}

/** Every row of a CSV file that is wrong, up to a number. */
async function findRowFaults(
  source: Extract<DataSource, { type: 'csv' }>,
  found: Findings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { path } = source
  let before: CsvRow | undefined
  let parseRow: ReturnType<typeof createRowParser> | undefined
  let label = 0
  const features = new Float32Array(0)
  for await (const row of readCsvRows(path, signal)) {
    if (found.faults.length >= maxFaults) return
    if (before === undefined) {
      before = row
      label = labelIndex(source, row)
      continue
    }
    if (parseRow === undefined) {
      const hasHeader = typeof source.label === 'string' || isHeader(before, row, label)
      parseRow = createRowParser(path, before.cells.length, hasHeader ? before : undefined)
    }
    try {
      parseRow(row, label, features)
    } catch (thrown) {
      if (!(thrown instanceof InvalidInputError)) throw thrown
      note(found, `row ${row.line}`, thrown)
    }
  }
}

async function readText(path: string, request: PreviewRequest, found: Findings): Promise<void> {
  const { graph, signal } = request
  const { length, usable } = tokensOf(graph)
  for await (const window of readWindows(path, { length, usable }, signal)) {
    if (signal?.aborted === true) throw new AbortedError('the preview was stopped')
    if (found.examples.length < maxExamples / 2) {
      const text = Buffer.from(window.subarray(0, shownCharacters)).toString('utf8')
      found.examples.push({ label: '', text })
    }
    found.samples++
  }
}
