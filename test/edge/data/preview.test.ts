import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { previewData } from '../../../main/edge/data/preview.ts'
import { type DataSource, dataSource } from '../../../shared/job/data.ts'
import { modelGraph } from '../../../shared/model/graph.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-preview-'))
})
afterAll(() => rm(folder, { recursive: true }))

const graphOf = (shape: number[], units = 3) =>
  modelGraph.parse({
    format: 'rookery-model/1',
    name: 'tiny',
    task: 'classify',
    input: { type: 'values', shape },
    layers: [
      { type: 'flatten', name: 'flatten' },
      { type: 'dense', name: 'out', units },
    ],
    loss: { type: 'cross-entropy' },
  })

async function csv(text: string): Promise<DataSource> {
  const path = join(folder, 'some.csv')
  await writeFile(path, text)
  return dataSource.parse({ type: 'csv', path })
}

const preview = (source: DataSource, shape = [2]) =>
  previewData({ source, graph: graphOf(shape), validationShare: 0.1 })

describe('a preview of data', () => {
  it('counts samples and names classes, with an example of each', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => `${index},0.5,${['ant', 'bee'][index % 2]}`)
    const shown = await preview(await csv(`x,y,kind\n${rows.join('\n')}\n`))
    expect(shown).toMatchObject({ samples: 40, validationSamples: 4, classes: ['ant', 'bee'], faults: [] })
    expect(shown.examples.slice(0, 2)).toEqual([
      { label: 'ant', text: '0, 0.5' },
      { label: 'bee', text: '1, 0.5' },
    ])
    expect(shown.examples.length).toBeLessThanOrEqual(12)
  })

  it('shows what a model takes as a picture as one', async () => {
    const shown = await preview(await csv('0,5,10,15,a\n0,0,0,0,b\n'), [2, 2, 1])
    const [, data = ''] = shown.examples[0]!.picture!.split('base64,')
    const { data: pixels, info } = await sharp(Buffer.from(data, 'base64'))
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true })
    expect([info.width, info.height, [...pixels]]).toEqual([2, 2, [0, 85, 170, 255]])
  })

  it('names every row that is wrong, and what is wrong with it', async () => {
    const shown = await preview(await csv('1,2,a\n1,two,a\n1,2,b\n1,b\n,2,b\n1,2,\n'))
    expect(shown.faults.map(({ where }) => where)).toEqual(['row 2', 'row 4', 'row 5'])
    expect(shown.faults[0]!.problem).toMatch(
      /row 2, column 2 of ".*some.csv" is "two", but a number is expected/,
    )
  })

  it('names labels that the model cannot learn', async () => {
    const shown = await preview(await csv('1,2,a\n1,2,\n1,2,b\n'))
    expect(shown).toMatchObject({ samples: 2, classes: ['a', 'b'] })
    expect(shown.faults).toEqual([
      { where: 'row 2', problem: expect.stringMatching(/has no label/) as string },
    ])
  })

  it('says what does not suit the model, and what is not there', async () => {
    const wide = await preview(await csv('1,2,3,4,a\n'))
    expect(wide.faults).toHaveLength(1)
    expect(wide.faults[0]!.where).toBe('some.csv')
    const missing = await preview(dataSource.parse({ type: 'csv', path: join(folder, 'none.csv') }))
    expect(missing).toMatchObject({ samples: 0, validationSamples: 0, examples: [] })
    expect(missing.faults).toHaveLength(1)
  })

  it('lists no more than a hundred faults', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `1,bad${index},a`)
    expect((await preview(await csv(`1,2,a\n${rows.join('\n')}\n`))).faults).toHaveLength(100)
  })

  it('shows the beginning of the windows of a text', async () => {
    const path = join(folder, 'text.txt.gz')
    await writeFile(path, gzipSync('call me Ishmael. '.repeat(20)))
    const graph = modelGraph.parse({
      format: 'rookery-model/1',
      name: 'writer',
      task: 'next-token',
      input: { type: 'tokens', length: 16, vocabulary: 256 },
      layers: [
        { type: 'token-embedding', name: 'embed', vocabulary: 256, width: 4 },
        { type: 'dense', name: 'out', units: 256 },
      ],
      loss: { type: 'cross-entropy' },
    })
    const shown = await previewData({ source: { type: 'text', path }, graph, validationShare: 0.5 })
    expect(shown.faults).toEqual([])
    expect(shown.samples).toBeGreaterThan(15)
    expect(shown.examples[0]).toEqual({ label: '', text: 'call me Ishmael. '.slice(0, 17) })
  })
})
