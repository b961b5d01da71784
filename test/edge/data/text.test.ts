import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { byRow, prepared, rows, specOf, temporaryFile, tokensModel } from './fixtures.ts'

const book = 'resources/samples/moby-dick.txt'

describe('a text for next-token training', () => {
  it('is every window of the book once, in order, each label the byte after', async () => {
    const length = 96
    const { manifest, batches } = await prepared(
      { type: 'text', path: book },
      tokensModel('next-token', length),
      {
        validationShare: 0.1,
      },
    )
    const bytes = readFileSync(book)
    const count = Math.floor((bytes.length - 1) / length)
    const batch = { rows: rows(0, count), epoch: 0 }
    const inputs = await batches.inputs(batch)
    const labels = await batches.labels(batch)
    expect(manifest.trainSamples + manifest.validationSamples).toBe(count)
    expect(manifest.validationSamples).toBe(Math.round(count / 10))
    expect(inputs).toMatchObject({ dtype: 'int32', shape: [count, length] })
    expect(Buffer.from(inputs.data).equals(bytes.subarray(0, count * length))).toBe(true)
    expect(Buffer.from(labels.data).equals(bytes.subarray(1, count * length + 1))).toBe(true)
  })

  it('that is too short, or has bytes beyond the vocabulary, is refused', async () => {
    const prepare = async (text: string) =>
      prepared({ type: 'text', path: await temporaryFile('x.txt', text) }, tokensModel('next-token', 4, 128))
    await expect(prepare('abcd')).rejects.toThrow(/too short: model "speaker" needs more than 4 bytes/)
    await expect(prepare('abcdé')).rejects.toThrow(
      /byte 4 of .* has the value 195, but the model knows only 0 to 127/,
    )
  })
})

describe('a text for masked-token training', () => {
  const graph = tokensModel('masked-token', 20, 257)
  const mask = 256
  const text = 'abcdefghijklmnopqrstuvwxyz'.repeat(400)

  async function open() {
    const path = await temporaryFile('x.txt', text)
    return prepared({ type: 'text', path }, graph)
  }

  it('hides 15 % of the tokens, and labels these and no others', async () => {
    const { manifest, batches } = await open()
    const batch = { rows: rows(0, manifest.trainSamples), epoch: 3 }
    const inputs = (await batches.inputs(batch)).data
    const labels = (await batches.labels(batch)).data
    const original = Buffer.from(text)
    let [masked, kept, random] = [0, 0, 0]
    for (const [index, label] of labels.entries()) {
      if (label === -100) {
        expect(inputs[index]).toBe(original[index])
        continue
      }
      expect(label).toBe(original[index])
      if (inputs[index] === mask) masked++
      else if (inputs[index] === label) kept++
      else random++
    }
    for (const row of byRow(labels, 20)) expect(row.filter((label) => label !== -100)).toHaveLength(3)
    const guessed = masked + kept + random
    // 1557 draws: three deviations of a share p are 3·sqrt(p(1-p)/1557), 0.030 for 0.8 and 0.023 for 0.1.
    expect(Math.abs(masked / guessed - 0.8)).toBeLessThan(0.031)
    expect(Math.abs(random / guessed - 0.1)).toBeLessThan(0.023)
  })

  it('hides the same for job, row and epoch wherever the row stands, and something else in another epoch', async () => {
    const { manifest, store, batches } = await open()
    const read = async (row: number[], epoch: number, seed = 0) => {
      const source = seed === 0 ? batches : store.open(manifest, specOf(graph, manifest, seed))
      return byRow((await source.inputs({ rows: Uint32Array.from(row), epoch })).data, 20).at(-1)
    }
    const once = await read([7], 0)
    expect(await read([3, 9, 7], 0)).toEqual(once)
    expect(await read([7], 1)).not.toEqual(once)
    expect(await read([7], 0, 5)).not.toEqual(once)
  })

  it('keeps one copy of the book for both columns', async () => {
    const { manifest } = await open()
    expect(manifest.labels).toEqual(manifest.inputs)
  })
})
