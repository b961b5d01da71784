/** CSV: one sample a row, all columns but the label's are numbers. */
import { CsvError, type Info, parse } from 'csv-parse'
import { Readable, pipeline } from 'node:stream'
import { InvalidInputError } from '../../../../shared/errors.ts'
import type { DataSource } from '../../../../shared/job/data.ts'
import { mebibyte } from '../../../../shared/units.ts'
import { checkElements } from '../suitability.ts'
import { openBytes, readingFault, stopIfAborted } from './bytes.ts'
import type { ReadingContext, Sample, SampleStream } from './samples.ts'

type CsvSource = Extract<DataSource, { type: 'csv' }>

/** Cells of one row and its line in the file, counted from 1. */
export interface CsvRow {
  readonly cells: readonly string[]
  readonly line: number
}

/** Rows of a CSV file, plain or gzip; blank lines are passed over. @throws InvalidInputError naming file and line */
export async function* readCsvRows(path: string, signal?: AbortSignal): AsyncGenerator<CsvRow, void> {
  const parser = parse({
    bom: true,
    info: true,
    trim: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: 16 * mebibyte,
  })
  // A fault of the file destroys the parser with it: the loop below throws it.
  pipeline(Readable.from(openBytes(path, signal)), parser, () => undefined)
  try {
    for await (const row of parser as AsyncIterable<{ record: string[]; info: Info }>) {
      stopIfAborted(signal)
      yield { cells: row.record, line: row.info.lines }
    }
  } catch (thrown) {
    if (thrown instanceof CsvError) throw new InvalidInputError(`"${path}" is not CSV: ${thrown.message}`)
    throw readingFault(thrown, path)
  }
}

/** A number that float32 can hold, or undefined. */
export function parseNumber(cell: string): number | undefined {
  const value = cell === '' ? Number.NaN : Number(cell)
  return Number.isFinite(Math.fround(value)) ? value : undefined
}

const isNumber = (cell: string | undefined) => cell !== undefined && parseNumber(cell) !== undefined

/** Whether the first row names the columns: a feature that is no number, or a label that is none above one that is. */
export function isHeader(first: CsvRow, second: CsvRow | undefined, label: number | undefined): boolean {
  if (first.cells.some((cell, index) => index !== label && !isNumber(cell))) return true
  if (label === undefined) return false
  return !isNumber(first.cells[label]) && isNumber(second?.cells[label])
}

/** Parses the features of rows of equal width. The array it gives is filled anew each time. */
export function createRowParser(path: string, width: number, header: CsvRow | undefined) {
  return (row: CsvRow, label: number | undefined, features: Float32Array): void => {
    if (row.cells.length !== width)
      throw new InvalidInputError(
        `row ${row.line} of "${path}" has ${row.cells.length} columns, but the rows before it have ${width}`,
      )
    let feature = 0
    for (const [index, cell] of row.cells.entries()) {
      if (index === label) continue
      const value = parseNumber(cell)
      if (value === undefined) {
        const name = header?.cells[index]
        throw new InvalidInputError(
          `row ${row.line}, column ${index + 1}${name === undefined ? '' : ` ("${name}")`} of "${path}" ` +
            `is ${cell === '' ? 'empty' : `"${cell.slice(0, 40)}"`}, but a number is expected`,
        )
      }
      features[feature++] = value
    }
  }
}

/** Place of the label's column. @throws InvalidInputError where there is none */
export function labelIndex(source: CsvSource, first: CsvRow): number {
  const width = first.cells.length
  if (typeof source.label === 'string') {
    const index = first.cells.indexOf(source.label)
    if (index >= 0) return index
    throw new InvalidInputError(
      `"${source.path}" has no column "${source.label}"; its first row is ${first.cells.slice(0, 8).join(', ').slice(0, 200)}`,
    )
  }
  const index = source.label < 0 ? width + source.label : source.label
  if (index >= 0 && index < width) return index
  throw new InvalidInputError(
    `"${source.path}" has ${width} columns, so there is no label column ${source.label}`,
  )
}

/** The first two rows: together they tell whether there is a header. */
async function peek(rows: AsyncGenerator<CsvRow, void>, path: string) {
  const first = await rows.next()
  if (first.done === true) throw new InvalidInputError(`"${path}" holds no rows`)
  const second = await rows.next()
  return { first: first.value, second: second.done === true ? undefined : second.value }
}

/** Opens a CSV file as samples. @throws InvalidInputError naming file, row and column of what is wrong */
export async function openCsv(source: CsvSource, context: ReadingContext): Promise<SampleStream> {
  const { path } = source
  const rows = readCsvRows(path, context.signal)
  const close = async () => {
    await rows.return()
  }
  try {
    const { first, second } = await peek(rows, path)
    const label = labelIndex(source, first)
    const header = typeof source.label === 'string' || isHeader(first, second, label) ? first : undefined
    const width = first.cells.length
    checkElements(`"${path}" with ${width - 1} feature columns`, [width - 1], context.graph)
    const ahead = [header === undefined ? first : undefined, second].filter((row) => row !== undefined)
    const parseRow = createRowParser(path, width, header)
    async function* samples(): AsyncGenerator<Sample, void> {
      const input = new Float32Array(width - 1)
      const sampleOf = (row: CsvRow): Sample => {
        parseRow(row, label, input)
        return { input, label: row.cells[label] ?? '', place: () => `row ${row.line} of "${path}"` }
      }
      for (const row of ahead) yield sampleOf(row)
      for await (const row of rows) yield sampleOf(row)
    }
    const normalize = source.normalize === 'per-column' ? 'per-last-axis' : source.normalize
    return { dtype: 'float32', shape: [width - 1], normalize, samples: samples(), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}
