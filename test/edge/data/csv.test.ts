import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { DataSource } from '../../../shared/job/data.ts'
import { InvalidInputError } from '../../../shared/errors.ts'
import { byRow, prepared, rows, temporaryFile, valuesModel } from './fixtures.ts'

const digitsPath = 'resources/samples/digits.csv.gz'
const csv = (path: string, rest: Partial<Extract<DataSource, { type: 'csv' }>> = {}): DataSource => ({
  type: 'csv',
  path,
  label: -1,
  normalize: 'none',
  ...rest,
})

async function refusal(content: string, rest = {}, graph = valuesModel([2], 3)): Promise<string> {
  const path = await temporaryFile('x.csv', content)
  const thrown: unknown = await prepared(csv(path, rest), graph).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(InvalidInputError)
  return (thrown as Error).message.replaceAll(path, 'x.csv')
}

describe('the digits', () => {
  const lines = gunzipSync(readFileSync(digitsPath)).toString().trim().split('\n')

  it('come out as every row of the file exactly once, each with its own label', async () => {
    const { manifest, batches } = await prepared(csv(digitsPath), valuesModel([8, 8, 1], 10), {
      validationShare: 0.2,
    })
    const batch = { rows: rows(0, 1797), epoch: 0 }
    const inputs = await batches.inputs(batch)
    const labels = await batches.labels(batch)
    const found = byRow(inputs.data, 64).map((row, index) => [...row, labels.data[index]].join(','))
    expect(inputs.shape).toEqual([1797, 8, 8, 1])
    expect(labels).toMatchObject({ dtype: 'int32', shape: [1797] })
    expect(found.toSorted()).toEqual(lines.toSorted())
    expect(found).not.toEqual(lines)
    expect(manifest).toMatchObject({ trainSamples: 1438, validationSamples: 359 })
    expect(manifest.classes).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
  })

  it('are normalised by mean and deviation of the training rows alone', async () => {
    const source = csv(digitsPath, { normalize: 'global' })
    const { manifest, batches } = await prepared(source, valuesModel([8, 8, 1], 10), { validationShare: 0.5 })
    const raw = await prepared(csv(digitsPath), valuesModel([8, 8, 1], 10), { validationShare: 0.5 })
    const training = { rows: rows(0, manifest.trainSamples), epoch: 0 }
    const values = Array.from((await raw.batches.inputs(training)).data)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
    expect(manifest.normalization?.subtract[0]).toBeCloseTo(mean, 10)
    expect(manifest.normalization?.divide[0]).toBeCloseTo(deviation, 10)
    const normalised = Array.from((await batches.inputs(training)).data)
    expect(normalised).toEqual(values.map((value) => Math.fround((value - mean) / deviation)))
  })

  it('keep their order for a seed and change it for another', async () => {
    const manifests = await Promise.all(
      [3, 3, 4].map((seed) => prepared(csv(digitsPath), valuesModel([64], 10), { seed })),
    )
    const [first, again, other] = manifests.map(({ manifest }) => manifest.inputs.shards[0]?.hash)
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })
})

describe('a CSV file', () => {
  it('may have a header, a label in any column, class names and gzip', async () => {
    const path = await temporaryFile('pets.csv.gz', gzipSync('kind,"a, b",c\ncat,1,2\ndog,3,4\ncat,5,6\n'))
    const { manifest, batches } = await prepared(csv(path, { label: 'kind' }), valuesModel([2], 2))
    const batch = { rows: rows(0, 3), epoch: 0 }
    const labels = await batches.labels(batch)
    const named = byRow((await batches.inputs(batch)).data, 2).map((row, index) => [
      ...row,
      manifest.classes?.[labels.data[index] ?? 9],
    ])
    expect(named.toSorted()).toEqual([
      [1, 2, 'cat'],
      [3, 4, 'dog'],
      [5, 6, 'cat'],
    ])
  })

  it('orders numeric labels by value', async () => {
    const path = await temporaryFile('x.csv', '1,2,10\n3,4,9.0\n5,6,9\n')
    const { manifest } = await prepared(csv(path), valuesModel([2], 2))
    expect(manifest.classes).toEqual(['9', '10'])
  })

  it('gives targets for regression', async () => {
    const path = await temporaryFile('x.csv', '0.5,1,2\n1.5,3,4\n')
    const { batches } = await prepared(csv(path, { label: 0 }), valuesModel([2], 1, 'regress'))
    const batch = { rows: rows(0, 2), epoch: 0 }
    const labels = await batches.labels(batch)
    expect(labels).toMatchObject({ dtype: 'float32', shape: [2, 1] })
    const inputs = byRow((await batches.inputs(batch)).data, 2)
    expect(inputs.map((row, index) => [labels.data[index], ...row]).toSorted()).toEqual([
      [0.5, 1, 2],
      [1.5, 3, 4],
    ])
  })

  it('is normalised column by column where asked, and a constant column is only shifted', async () => {
    const path = await temporaryFile('x.csv', '1,7,a\n3,7,a\n')
    const { manifest } = await prepared(csv(path, { normalize: 'per-column' }), valuesModel([2], 1))
    expect(manifest.normalization).toEqual({ subtract: [2, 7], divide: [1, 1] })
  })

  it('takes classes and normalisation of a trained model when it is to be judged by it', async () => {
    const path = await temporaryFile('x.csv', '1,2,b\n')
    const like = { classes: ['a', 'b'], normalization: { subtract: [1], divide: [2] } }
    const { batches } = await prepared(csv(path), valuesModel([2], 2), { like })
    const batch = { rows: rows(0, 1), epoch: 0 }
    expect([...(await batches.labels(batch)).data, ...(await batches.inputs(batch)).data]).toEqual([
      1, 0, 0.5,
    ])
  })

  it('that does not suit is refused in one sentence naming file, row and column', async () => {
    expect(await refusal('a,b,label\n1,2,0\n3,x,1\n')).toBe(
      'row 3, column 2 ("b") of "x.csv" is "x", but a number is expected',
    )
    expect(await refusal('1,2,0\n3,,1\n')).toBe(
      'row 2, column 2 of "x.csv" is empty, but a number is expected',
    )
    expect(await refusal('1,2,0\n\n3,4,5,1\n')).toBe(
      'row 3 of "x.csv" has 4 columns, but the rows before it have 3',
    )
    expect(await refusal('1,2,3,0\n')).toBe(
      '"x.csv" with 3 feature columns has 3 values a sample, but model "small" takes 2 ([2])',
    )
    expect(await refusal('1,2,0\n1,2,1\n1,2,2\n1,2,3\n')).toMatch(/more classes than the 3 outputs/)
    expect(await refusal('1,2,0\n', { label: 7 })).toMatch(/3 columns, so there is no label column 7/)
    expect(await refusal('1,2,0\n', { label: 'kind' })).toMatch(/no column "kind"/)
    expect(await refusal('1,2,\n')).toBe('row 1 of "x.csv" has no label')
    expect(await refusal('')).toBe('"x.csv" holds no rows')
  })

  it('that is missing, a folder or broken gzip is named', async () => {
    const prepare = (path: string) => prepared(csv(path), valuesModel([2], 2))
    await expect(prepare('/nowhere/x.csv')).rejects.toThrow('cannot read "/nowhere/x.csv": there is no file')
    await expect(prepare('/')).rejects.toThrow(/it is a folder/)
    const cut = await temporaryFile('x.csv.gz', gzipSync('1,2,3\n'.repeat(999)).subarray(0, 30))
    await expect(prepare(cut)).rejects.toThrow(/gzip data ends too early/)
  })

  it('stops with AbortedError on its signal', async () => {
    const options = { signal: AbortSignal.abort() }
    await expect(prepared(csv(digitsPath), valuesModel([64], 10), options)).rejects.toMatchObject({
      code: 'aborted',
    })
  })
})
