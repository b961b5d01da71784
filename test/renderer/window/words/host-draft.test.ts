import { describe, expect, it } from 'vitest'
import * as draft from '../../../../renderer/window/words/host-draft.ts'
import { qrPath } from '../../../../renderer/window/words/qr-path.ts'
import { perDay, trainingHoursPerDay } from '../../../../shared/training-hours.ts'
import { jobFile } from '../../../../shared/job/spec.ts'
import { limits, models } from '../../fixtures/answers.ts'

describe('the wizard’s draft', () => {
  it('guesses how a file is read from its name', () => {
    expect(
      [
        'digits.csv',
        'C:\\data\\digits.csv.gz',
        'train-images-idx3-ubyte.gz',
        'data_batch_1.bin',
        'moby-dick.txt',
      ].map(draft.guessType),
    ).toEqual(['csv', 'csv', 'idx', 'cifar10', 'text'])
  })

  it('looks for the labels of MNIST beside its images', () => {
    expect(draft.sourceOf('idx', '/data/train-images-idx3-ubyte.gz')).toEqual({
      type: 'idx',
      images: '/data/train-images-idx3-ubyte.gz',
      labels: '/data/train-labels-idx1-ubyte.gz',
    })
  })

  it('tries the model first that reads such data and needs least memory', () => {
    expect(draft.candidates('csv', models).map(({ name }) => name)).toEqual([
      'digits-mlp',
      'digits-cnn',
      'resnet18',
    ])
    expect(draft.candidates('text', models).map(({ name }) => name)).toEqual(['gpt-mini', 'bert-mini'])
  })

  it('is no job before there are data and a model, and then one that the schema accepts as it is', () => {
    const source = draft.sourceOf('csv', '/data/my-digits.csv.gz')
    expect(draft.jobFileOf({ ...draft.emptyDraft, source })).toBeNull()
    for (const optimizer of ['adamw', 'adam', 'sgd', 'lamb'] as const) {
      const recipe = { ...draft.emptyDraft.recipe, optimizer, clipNorm: 1 }
      const job = draft.jobFileOf({
        ...draft.emptyDraft,
        source,
        model: 'digits-mlp',
        recipe,
        startAtPeers: 3,
      })
      expect(jobFile.parse(job)).toEqual(job)
      expect(job?.name).toBe('my digits')
    }
  })

  it('says what is wrong with a number', () => {
    const bounds = { least: 1, most: 10, whole: true }
    expect([5, 0, 2.5, Number.NaN].map((value) => draft.numberFault(value, bounds))).toEqual([
      undefined,
      'Type a number from 1 to 10.',
      'Type a whole number from 1 to 10.',
      'Type a number from 1 to 10.',
    ])
  })
})

describe('the QR code', () => {
  it('is one rectangle for each run of dark modules', () => {
    const modules = ['##.', '...', '.##']
    expect(qrPath(3, (row, column) => modules[row]?.[column] === '#')).toBe('M0 0h2v1h-2zM1 2h2v1h-2z')
  })
})

describe('the cost of joining', () => {
  it('counts the hours that the owner allows', () => {
    expect(trainingHoursPerDay({})).toBe(24)
    expect(trainingHoursPerDay(limits)).toBe(14)
    expect(perDay([1, 2], 14)).toEqual([14, 28])
  })
})
