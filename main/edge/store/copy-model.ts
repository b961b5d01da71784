/** A finished model, copied to where its owner wants it. */
import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { InvalidInputError } from '../../../shared/errors.ts'
import { exists, hasCode, writing } from './files.ts'

const files = ['model.safetensors', 'report.json', 'model.json'] as const

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

/**
 * Copy the files of a model. A folder that is there gets a folder of the model's name in it; any other path becomes
 * the copy itself. It stands whole or not at all.
 *
 * @returns the copy
 * @throws InvalidInputError where there is no model, or where the copy cannot go; DiskFullError
 */
export async function copyModel(model: string, to: string): Promise<string> {
  const from = resolve(model)
  for (const file of files)
    if (!(await exists(join(from, file))))
      throw new InvalidInputError(`there is no finished model in "${model}": it has no ${file}`)
  const target = (await isFolder(resolve(to))) ? join(resolve(to), basename(from)) : resolve(to)
  if (await exists(target))
    throw new InvalidInputError(`"${target}" is there already: choose another folder or move it away`)
  const temporary = join(dirname(target), `.${basename(target)}.new`)
  try {
    await writing(target, async () => {
      await rm(temporary, { recursive: true, force: true })
      await mkdir(temporary)
      for (const file of files) await copyFile(join(from, file), join(temporary, file))
      await rename(temporary, target)
    })
  } catch (thrown) {
    await rm(temporary, { recursive: true, force: true })
    if (!hasCode(thrown, 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EROFS')) throw thrown
    throw new InvalidInputError(`"${target}" cannot be written: choose a folder that you may write to`)
  }
  return target
}
