import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyModel } from '../../../main/edge/store/copy-model.ts'
import { askReset, resetIfAsked } from '../../../main/edge/store/reset.ts'
import { InvalidInputError } from '../../../shared/errors.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-copy-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('a copy of a model', () => {
  const files = ['model.json', 'model.safetensors', 'report.json']
  beforeEach(async () => {
    await mkdir(join(folder, 'digits-1'))
    for (const file of [...files, 'other'])
      await writeFile(join(folder, 'digits-1', file), `the ${file} of digits`)
  })

  it('holds the files of the model and no other, in a folder or as one', async () => {
    await mkdir(join(folder, 'mine'))
    const model = join(folder, 'digits-1')
    expect(await copyModel(model, join(folder, 'mine'))).toBe(join(folder, 'mine', 'digits-1'))
    expect(await copyModel(model, join(folder, 'taken'))).toBe(join(folder, 'taken'))
    for (const copy of [join(folder, 'mine', 'digits-1'), join(folder, 'taken')]) {
      expect((await readdir(copy)).sort()).toEqual(files)
      expect(await readFile(join(copy, 'model.json'), 'utf8')).toBe('the model.json of digits')
    }
  })

  it('overwrites nothing, and is not made of what is no model', async () => {
    const model = join(folder, 'digits-1')
    await writeFile(join(folder, 'there'), '')
    await expect(copyModel(model, join(folder, 'there'))).rejects.toThrow(InvalidInputError)
    await expect(copyModel(model, folder)).rejects.toThrow(/is there already/)
    await expect(copyModel(model, join(folder, 'no', 'where'))).rejects.toThrow(/cannot be written/)
    await rm(join(model, 'model.safetensors'))
    await expect(copyModel(model, join(folder, 'taken'))).rejects.toThrow(/has no model.safetensors/)
    expect((await readdir(folder)).sort()).toEqual(['digits-1', 'there'])
  })
})

describe('a reset', () => {
  it('forgets what can be had again at the next start, once', async () => {
    for (const name of ['shards', 'peers', 'hosted', 'models', 'stages']) {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, 'x'), '')
    }
    for (const name of [
      'benchmark.json',
      'learned.json',
      'joined.json',
      'port.json',
      'identity.json',
      'settings.json',
      'contribution.json',
    ])
      await writeFile(join(folder, name), '{}')
    expect(await resetIfAsked(folder)).toBe(false)
    await askReset(folder)
    expect(await resetIfAsked(folder)).toBe(true)
    expect((await readdir(folder)).sort()).toEqual(
      ['models', 'stages', 'identity.json', 'settings.json', 'contribution.json'].sort(),
    )
    expect(await resetIfAsked(folder)).toBe(false)
  })
})
