import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../../../shared/errors.ts'
import { createPredictionInput, createPrompt, nameOfClass } from '../../../main/edge/data/prediction.ts'
import { temporaryFile, tokensModel, valuesModel } from './fixtures.ts'

const column = (dtype: 'uint8' | 'float32', shape: number[]) => ({
  dtype,
  shape,
  shards: [{ hash: 'a'.repeat(64), bytes: 1, samples: 1 }],
})
const model = {
  graph: valuesModel([1, 2, 1], 2),
  data: {
    inputs: column('float32', [2]),
    normalization: { subtract: [1, 10], divide: [2, 5] },
    classes: ['no', 'yes'],
  },
}

describe('an input for a finished model', () => {
  it('is a row of features without label, normalised as in training', async () => {
    const input = await createPredictionInput(await temporaryFile('x.csv', '3,20\n'), model)
    expect(input).toEqual({ dtype: 'float32', shape: [1, 1, 2, 1], data: Float32Array.of(1, 2) })
  })

  it('may be several rows below a header', async () => {
    const input = await createPredictionInput(await temporaryFile('x.csv', 'a,b\n1,10\n3,20\n'), model)
    expect(input).toMatchObject({ shape: [2, 1, 2, 1], data: Float32Array.of(0, 0, 1, 2) })
  })

  it('is a picture for a model of pictures', async () => {
    const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#0a1e00' } })
      .png()
      .toBuffer()
    const path = await temporaryFile('x.png', png)
    const graph = valuesModel([1, 1, 3], 2)
    const data = { inputs: column('uint8', [1, 1, 3]), normalization: { subtract: [10], divide: [10] } }
    expect(await createPredictionInput(path, { graph, data })).toMatchObject({
      shape: [1, 1, 1, 3],
      data: Float32Array.of(0, 2, -1),
    })
    await expect(createPredictionInput(path, model)).rejects.toThrow(/was trained on rows of CSV/)
  })

  it('is a line of exactly the values of one sample', async () => {
    for (const line of ['3,20', ' 3, 20\n', '3 20', '3;2e1'])
      expect(await createPredictionInput(line, model)).toMatchObject({
        shape: [1, 1, 2, 1],
        data: Float32Array.of(1, 2),
      })
  })

  it.each([
    ['1,2,3', /these are 3 values, but model "small" takes 2, without a label/],
    ['1', /these are 1 values/],
    ['1,two', /value 2 is "two"; it has to be a number/],
    ['1,,', /value 2 is ""/],
    ['1,Infinity', /value 2 is "Infinity"/],
    ['1,1e300', /value 2 is "1e300"/],
    ['/no/such.csv', /there is no file "\/no\/such.csv"; give its whole path, or 2 values/],
  ])('refuses %s in one sentence', async (line, sentence) => {
    await expect(createPredictionInput(line, model)).rejects.toThrow(InvalidInputError)
    await expect(createPredictionInput(line, model)).rejects.toThrow(sentence)
  })

  it('that does not suit is refused in one sentence', async () => {
    await expect(createPredictionInput(await temporaryFile('x.csv', '1,2,3\n'), model)).rejects.toThrow(
      /has 3 columns, but model "small" takes 2 features without a label/,
    )
    await expect(createPredictionInput(await temporaryFile('x.csv', '1,two\n'), model)).rejects.toThrow(
      /row 1, column 2 .* is "two"/,
    )
  })
})

describe('a prompt', () => {
  const speaker = { graph: tokensModel('next-token', 4), data: { inputs: column('uint8', [4]) } }

  it('stands at the start, and the answer at its last byte', () => {
    const { tensor, position } = createPrompt(Buffer.from('ab'), speaker)
    expect([tensor.dtype, ...tensor.data, position]).toEqual(['int32', 97, 98, 32, 32, 1])
  })

  it('that is longer than the window loses its beginning', async () => {
    const path = await temporaryFile('x.txt', 'abcdef')
    expect([...(await createPredictionInput(path, speaker)).data]).toEqual([99, 100, 101, 102])
  })

  it('that is empty is refused', () => {
    expect(() => createPrompt(new Uint8Array(0), speaker)).toThrow(/the prompt is empty/)
  })
})

describe('a class', () => {
  it('has the name of the data, or its number', () => {
    expect([nameOfClass(model.data, 1), nameOfClass({}, 1)]).toEqual(['yes', '1'])
  })
})
