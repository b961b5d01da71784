import { execFileSync } from 'node:child_process'
import { mkdir, open, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OpenFile } from '../../../main/edge/store/files.ts'
import { loadModel } from '../../../main/edge/store/trained-models.ts'
import { createVault } from '../../../main/edge/store/vault.ts'
import { finishedModel, job, temporaryFolder } from './fixtures.ts'

/** Files on a disk that takes so many bytes more, over all files together. */
function smallDisk(bytes: number): OpenFile {
  let left = bytes
  return async (path) => {
    const file = await open(path, 'w')
    const write: typeof file.write = (...args: unknown[]) => {
      const [buffer, offset, length] = args as [Uint8Array, number, number]
      if (left === 0) return Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }))
      const taken = Math.min(left, length)
      left -= taken
      return file.write(buffer, offset, taken) as never
    }
    return { write, sync: () => file.sync(), close: () => file.close() }
  }
}

describe('a finished model', () => {
  it('comes back from its folder as it was saved', async () => {
    const home = await temporaryFolder()
    const model = finishedModel(1)
    const folder = await (await createVault(home)).saveModel(job, model)
    expect(folder).toBe(join(home, 'models', 'My-model-u-ni-code-0123abcd'))
    expect(await readdir(folder)).toEqual(['model.json', 'model.safetensors', 'report.json'])
    expect(await loadModel(folder)).toEqual({ job, graph: model.spec.graph, ...model })
  })

  it('stores trained numbers first, under the names of its parameters', async () => {
    const folder = await (await createVault(await temporaryFolder())).saveModel(job, finishedModel())
    const bytes = await readFile(join(folder, 'model.safetensors'))
    const header = JSON.parse(bytes.subarray(8, 8 + bytes.readUInt32LE(0)).toString()) as Record<
      string,
      unknown
    >
    expect(Object.keys(header)).toEqual([
      '__metadata__',
      'in/weight',
      'norm/scale',
      'norm/shift',
      'out/weight',
      'out/bias',
      'norm/running-mean',
      'norm/running-variance',
    ])
  })

  it('replaces an earlier one of the same job and leaves nothing else behind', async () => {
    const home = await temporaryFolder()
    const vault = await createVault(home)
    await Promise.all([vault.saveModel(job, finishedModel(1)), vault.saveModel(job, finishedModel(2))])
    const names = await readdir(join(home, 'models'))
    expect(names).toHaveLength(1)
    expect((await loadModel(join(home, 'models', names[0]!))).report).toEqual({ loss: 2 })
  })

  it.each([0, 30, 500, 2000])('that a full disk cuts after %i bytes leaves the old one', async (bytes) => {
    const home = await temporaryFolder()
    const folder = await (await createVault(home)).saveModel(job, finishedModel(1))
    const full = await createVault(home, { openFile: smallDisk(bytes) })
    await expect(full.saveModel(job, finishedModel(2))).rejects.toMatchObject({ code: 'disk-full' })
    expect((await loadModel(folder)).state).toEqual(finishedModel(1).state)
    expect(await readdir(join(home, 'models'))).toHaveLength(1)
  })

  it('whose replacement a crash cut short is readable at once and put back at the next start', async () => {
    const home = await temporaryFolder()
    const folder = await (await createVault(home)).saveModel(job, finishedModel(1))
    const name = 'My-model-u-ni-code-0123abcd'
    await rename(folder, join(home, 'models', `.${name}.previous`))
    await mkdir(join(home, 'models', `.${name}.new`))
    expect((await loadModel(folder)).report).toEqual({ loss: 1 })
    await (await createVault(home)).saveModel(job, finishedModel(2))
    expect((await loadModel(folder)).report).toEqual({ loss: 2 })
    expect(await readdir(join(home, 'models'))).toEqual([name])
  })

  it('that is none, or does not belong together, is refused in one sentence', async () => {
    const home = await temporaryFolder()
    await expect(loadModel(home)).rejects.toThrow(/there is no finished model in .*: it has no model.json/)
    const folder = await (await createVault(home)).saveModel(job, finishedModel())
    const path = join(folder, 'model.json')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"units": 2', '"units": 3'))
    await expect(loadModel(folder)).rejects.toThrow(
      /does not belong to model "small": tensor "in\/weight" is F32/,
    )
    await writeFile(path, text.replace('"task"', '"tusk"'))
    await expect(loadModel(folder)).rejects.toThrow(/model.json in .* is not usable: spec.graph/)
    await writeFile(path, text.slice(0, 50))
    await expect(loadModel(folder)).rejects.toThrow(/model.json" is not JSON/)
  })
})

const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe.runIf(canMount)('on a real disk of one mebibyte', () => {
  async function tinyDisk(): Promise<string> {
    const folder = await temporaryFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
    onTestFinished(() => void execFileSync('umount', [folder]))
    return folder
  }

  it('a stage that does not fit leaves the saves before it', async () => {
    const vault = await createVault(await tinyDisk())
    const save = (updates: number, length: number) =>
      vault.saveStage(job, { updates, state: { layers: [0, 1], values: new Float32Array(length) } })
    await save(1, 10)
    await expect(save(2, 400_000)).rejects.toMatchObject({ code: 'disk-full' })
    expect((await vault.loadStage(job))?.updates).toBe(1)
    await save(3, 10)
  })
})

describe('a saved stage', () => {
  const stage = (updates: number) => ({
    updates,
    state: { layers: [2, 5] as const, values: Float32Array.of(updates, 0.5) },
    moments: [Float32Array.of(1, updates), Float32Array.of(3)],
  })

  it('comes back with its optimizer, the newest first, and only two are kept', async () => {
    const home = await temporaryFolder()
    const vault = await createVault(home)
    expect(await vault.loadStage(job)).toBeUndefined()
    for (const updates of [5, 9, 7]) await vault.saveStage(job, stage(updates))
    expect(await (await createVault(home)).loadStage(job)).toEqual(stage(7))
    expect(await readdir(join(home, 'stages', job))).toEqual(['2.safetensors', '3.safetensors'])
    await vault.forgetStage(job)
    expect(await vault.loadStage(job)).toBeUndefined()
  })

  it('that a disk changed is passed over for the one before', async () => {
    const home = await temporaryFolder()
    const vault = await createVault(home)
    for (const updates of [5, 9]) await vault.saveStage(job, stage(updates))
    const newest = join(home, 'stages', job, '2.safetensors')
    const bytes = await readFile(newest)
    await writeFile(newest, bytes.with(bytes.length - 1, 1))
    expect(await vault.loadStage(job)).toEqual(stage(5))
    await writeFile(newest, bytes.subarray(0, 40))
    expect(await vault.loadStage(job)).toEqual(stage(5))
  })

  it('never leaves the folder of stages', async () => {
    const vault = await createVault(await temporaryFolder())
    await expect(vault.saveStage('../../evil', stage(1))).rejects.toThrow(/a job is saved under its id/)
  })
})
